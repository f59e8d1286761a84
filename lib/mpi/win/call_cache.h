/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_cache.h - what a thread's last plain operation has looked up
 *
 * DESIGN NOTES
 *
 * A plain operation has the same datatype and count on both sides, without gaps, and its target is
 * a rank of the window. Programs repeat such calls, so the next one only checks that the handles
 * are equal, and none has been removed since: a freed handle may become another's.
 */
#ifndef ORIEL_MPI_CALL_CACHE_H
#define ORIEL_MPI_CALL_CACHE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/type/datatype.h"
#include "mpi/win/operation.h"
#include "mpi/win/window.h"

struct call_cache {
	MPI_Win handle;
	MPI_Datatype datatype;
	MPI_Op op;       /* for accumulates, as are oriel_op and element */
	size_t removals; /* table_removals() when filled */
	oriel_win *win;
	MPI_Aint unit;
	size_t each;         /* bytes of the datatype; for accumulates, its elements */
	unsigned rank_count; /* 0: matches no call */
	enum oriel_op oriel_op;
	enum oriel_type element;
};

/*
 * Returns the datatype, used before, of a plain operation whose count is not negative; else NULL.
 */
static inline const struct datatype *plain_datatype(const struct operation *operation)
{
	const struct datatype *known = datatype_known(operation->origin.type);

	if (operation->origin.type != operation->target.type || operation->origin.count != operation->target.count ||
	    operation->origin.count < 0)
		return NULL;
	if (!known || !known->dense || operation->rank < 0 || operation->rank >= operation->window->rank_count)
		return NULL;
	return known;
}

/* Returns whether window, both datatypes and rank fit the cache. */
static inline bool call_cache_matches(const struct call_cache *cache, MPI_Win handle, MPI_Datatype origin_datatype,
                                      MPI_Datatype target_datatype, int rank)
{
	return __builtin_expect(origin_datatype == target_datatype && cache->handle == handle &&
	                            cache->datatype == origin_datatype && cache->removals == table_removals() &&
	                            (unsigned)rank < cache->rank_count,
	                        1);
}

/* Returns whether the counts are equal and not negative. */
static inline bool counts_match(MPI_Count origin_count, MPI_Count target_count)
{
	return __builtin_expect(origin_count == target_count && origin_count >= 0, 1);
}

/* If the ranks have different units, the cache matches no call. */
static inline void call_cache_fill(struct call_cache *cache, const struct window *window, MPI_Datatype datatype,
                                   size_t each)
{
	*cache = (struct call_cache){
		.handle = window->handle,
		.datatype = datatype,
		.removals = table_removals(),
		.win = window->win,
		.unit = window->unit,
		.each = each,
		.rank_count = window->unit ? (unsigned)window->rank_count : 0,
	};
}

#endif
