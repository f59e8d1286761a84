/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_cache.h - what a thread's last plain operation had to look up
 *
 * DESIGN NOTES
 *
 * A plain operation has as many of one datatype on both sides, without gaps, and its target is a
 * rank of the window. Programs repeat such calls with one window and one datatype. What the last
 * call has looked up is kept by value, side by side. The next call asks only whether the handles are
 * the same and nothing has been removed since: a handle that has been freed may be another's. Copies
 * and accumulates have a cache each, since programs use both in turn.
 */
#ifndef ORIEL_MPI_CALL_CACHE_H
#define ORIEL_MPI_CALL_CACHE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/datatype.h"
#include "mpi/window.h"

struct call_cache {
	MPI_Win handle;
	MPI_Datatype datatype;
	MPI_Op op;       /* of accumulates, as oriel_op and element are */
	size_t removals; /* when the cache was filled */
	oriel_win *win;
	MPI_Aint unit;
	size_t each;         /* bytes of one of the datatype; of accumulates, elements in it */
	unsigned rank_count; /* 0: matches no call */
	enum oriel_op oriel_op;
	enum oriel_type element;
};

/*
 * The datatype of an operation that is plain and not negative in number; NULL: it is not. `known` is
 * the origin's, or NULL.
 */
static inline const struct datatype *plain_datatype(const struct window *window, const struct datatype *known,
                                                    MPI_Count origin_count, MPI_Datatype origin_datatype,
                                                    int target_rank, MPI_Count target_count,
                                                    MPI_Datatype target_datatype)
{
	if (origin_datatype != target_datatype || origin_count != target_count || origin_count < 0)
		return NULL;
	if (!known || !known->dense || target_rank < 0 || target_rank >= window->rank_count)
		return NULL;
	return known;
}

/* Whether an operation is plain, and on the window and datatype that are in the cache. */
static inline bool call_cache_matches(const struct call_cache *cache, MPI_Win handle, MPI_Count origin_count,
                                      MPI_Datatype origin_datatype, int target_rank, MPI_Count target_count,
                                      MPI_Datatype target_datatype)
{
	const bool same =
		cache->handle == handle && cache->datatype == origin_datatype && cache->removals == table_removals();

	return __builtin_expect(same && origin_datatype == target_datatype && origin_count == target_count &&
	                            origin_count >= 0 && (unsigned)target_rank < cache->rank_count,
	                        1);
}

/* If the window's ranks differ in their units, the cache matches no call. */
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
