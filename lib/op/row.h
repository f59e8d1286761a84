// SPDX-License-Identifier: BSD-2-Clause
/*
 * row.h - vector calls whose pieces are the blocks of a row
 *
 * DESIGN NOTES
 *
 * The columns of a matrix are blocks of one size at one distance from each other. To memory that is
 * not mapped, such a call goes as one operation, a row (acc.h), by an active message that has their
 * count and distance (layout.h), and is checked by its two ends. A list (list.h) needs a table, and
 * a check and an operation for each piece.
 *
 * All other calls take the general path: if the pieces differ, if they are not all in range, or if
 * the target is to be found or mapped first.
 */
#ifndef ORIEL_ROW_H
#define ORIEL_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "op/acc.h"
#include "oriel.h"

struct oriel_win;
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

#endif
