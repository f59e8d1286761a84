/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain.h - the usual operation: as many of one and the same datatype on both sides, without gaps, to a member
 *
 * DESIGN NOTES
 *
 * Programs do one thing again and again. What a thread's last plain operation had to know of its window and datatype is kept by
 * value, side by side, and the next one asks only whether the handles are the same and nothing has been removed since: a handle
 * that has been freed may be another's. Copies and accumulates are kept apart, since codes use both in turn.
 */
#ifndef ORIEL_MPI_PLAIN_H
#define ORIEL_MPI_PLAIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/datatype.h"
#include "mpi/window.h"

struct plain {
	MPI_Win handle;
	MPI_Datatype datatype;
	MPI_Op op;       /* of accumulates, as oriel_op and element are */
	size_t removals; /* when it was kept */
	oriel_win *win;
	MPI_Aint unit;
	size_t each;         /* bytes of one of the datatype; of accumulates, elements in it */
	unsigned rank_count; /* 0: nothing is kept */
	enum oriel_op oriel_op;
	enum oriel_type element;
};

/* Any operation: its datatype, if it is plain and not negative in number, or NULL. `known`: the origin's, or NULL. */
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

/* Whether it is plain, and on what is kept. */
static inline bool plain_again(const struct plain *kept, MPI_Win handle, MPI_Count origin_count,
                               MPI_Datatype origin_datatype, int target_rank, MPI_Count target_count,
                               MPI_Datatype target_datatype)
{
	const bool same = kept->handle == handle && kept->datatype == origin_datatype && kept->removals == table_removals();

	return __builtin_expect(same && origin_datatype == target_datatype && origin_count == target_count &&
	                            origin_count >= 0 && (unsigned)target_rank < kept->rank_count,
	                        1);
}

/* Whose members differ in their units are not kept. */
static inline void plain_keep(struct plain *kept, const struct window *window, MPI_Datatype datatype, size_t each)
{
	*kept = (struct plain){
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
