// SPDX-License-Identifier: BSD-2-Clause
/*
 * row.h - vector calls whose pieces are the blocks of a row
 *
 * DESIGN NOTES
 *
 * The columns of a matrix are blocks of one size at one distance. To memory that is not mapped they
 * go as one operation, a row (acc.h), in an active message, without a list's table and checks
 * (list.h). The layer for MPI names rows: a list takes longer to write than the blocks to copy.
 */
#ifndef ORIEL_ROW_H
#define ORIEL_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "oriel.h"

struct acc;
struct link;

/* The lists of a vector call, of `count` pieces each; NULL: it has no such list. */
struct row_lists {
	const struct oriel_origin_piece *origin, *result;
	const struct oriel_target_piece *target;
	int count;
	const char *call;
};

/*
 * Returns whether the pieces are a row of whole elements of that type, none at NULL. Fills in *acc
 * but for the place at the target; the distance there is in units of displacement.
 */
bool row_find(const struct row_lists *lists, enum oriel_type type, enum oriel_op op, struct acc *acc);

/*
 * Completes *acc, whose first block is at disp, if the target's handler may apply the row. The
 * target is described; the caller holds win->lock.
 */
bool row_place(struct oriel_win *win, struct link *link, struct acc *acc, size_t disp);

/* The first block, or NULL; and the distance from each block to the next. */
struct oriel_row_side {
	void *first;
	ptrdiff_t distance;
};

struct oriel_row {
	size_t block_bytes, blocks;
	struct oriel_row_side origin, result;
	size_t disp;        /* of the target's first block */
	ptrdiff_t distance; /* at the target, in units of displacement */
	enum oriel_type type;
	enum oriel_op op; /* put: ORIEL_REPLACE of bytes; get: ORIEL_NO_OP */
	bool accumulates;
	bool woven; /* with other rows of the call */
};

/* Pieces of a datatype. */
struct oriel_places {
	const struct oriel_place {
		ptrdiff_t offset;
		size_t size_bytes, before_bytes; /* of all before it */
	} * list;
	int count;
	ptrdiff_t from, to; /* the least offset, and the end of the last piece */
	size_t longest_bytes, all_bytes;
};

/* A put or get of pieces that lie alike on both sides, or without gaps on one. */
struct oriel_alike {
	const struct oriel_places *places;
	void *here;  /* where offset 0 is */
	size_t disp; /* there, in bytes */
	bool put, dense_here, dense_there;
};

static inline ptrdiff_t piece_here(const struct oriel_alike *alike, const struct oriel_place *place)
{
	return alike->dense_here ? (ptrdiff_t)place->before_bytes : place->offset;
}

static inline ptrdiff_t piece_there(const struct oriel_alike *alike, const struct oriel_place *place)
{
	return alike->dense_there ? (ptrdiff_t)place->before_bytes : place->offset;
}

static inline ptrdiff_t alike_from(const struct oriel_alike *alike)
{
	return alike->dense_there ? 0 : alike->places->from;
}

static inline size_t alike_span(const struct oriel_alike *alike)
{
	return alike->dense_there ? alike->places->all_bytes : (size_t)(alike->places->to - alike->places->from);
}

#define ORIEL_ROW_NOT 1

/* Acts as the vector call. Returns ORIEL_ROW_NOT if that is needed; nothing has happened. */
__attribute__((visibility("default"))) int oriel_row(oriel_win *win, const struct oriel_row *row, int target_rank);

/*
 * Transfers pieces, from number `at` on, without lists: copies all, or sends as many as have room.
 * Returns how many; 0: the vector call is needed. Errors name that.
 */
__attribute__((visibility("default"))) int oriel_alike(oriel_win *win, const struct oriel_alike *alike, int at,
                                                       int target_rank);

#endif
