// SPDX-License-Identifier: BSD-2-Clause
/* transfer.c - operations in many pieces; see operation.h. */
#include "mpi/win/operation.h"

#include <stdint.h>

#define PIECES_MAX 256    /* of a call of Oriel */
#define PIECES_ALIKE 1024 /* of a put or get, if they are one row: words fill an active message then */

struct walk {
	uint8_t *addr;
	struct layout_cursor *cursor; /* `own`, or the target's if that has the same datatype */
	struct layout_cursor own;
};

struct pieces {
	const struct operation *operation;
	enum oriel_op op;
	bool has_origin, has_result;
	size_t target_offset;
	struct walk origin, result, target;
	int count;
	struct oriel_origin_piece origins[PIECES_ALIKE], results[PIECES_MAX];
	struct oriel_target_piece targets[PIECES_ALIKE];
};

/* From one piece to the next, on each side. */
struct steps {
	ptrdiff_t origin, result, target;
};

static bool is_accumulate(const struct operation *operation)
{
	return operation->kind >= OPERATION_ACCUMULATE;
}

static void begin(struct walk *walk, const struct side *side, bool elements)
{
	walk->addr = side->addr;
	walk->cursor = &walk->own;
	cursor_begin(walk->cursor, elements ? side->known->elements : side->known->bytes, (size_t)side->count,
	             side->known->extent_bytes);
}

/* Begins a side other than the target, which has begun. */
static void begin_beside(struct pieces *pieces, struct walk *walk, const struct side *side, bool elements)
{
	if (side->known != pieces->operation->target.known) {
		begin(walk, side, elements);
		return;
	}
	walk->addr = side->addr;
	walk->cursor = pieces->target.cursor;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the length of the next piece on all sides. */
static size_t common(const struct pieces *pieces, size_t left_bytes)
{
	size_t bytes = least(left_bytes, pieces->target.cursor->left_bytes);

	if (pieces->has_origin)
		bytes = least(bytes, pieces->origin.cursor->left_bytes);
	return pieces->has_result ? least(bytes, pieces->result.cursor->left_bytes) : bytes;
}

/*
 * Returns how many of `count` pieces follow each other on one side, and their *step, unless the
 * cursor is the target's.
 */
static size_t row_of(const struct pieces *pieces, const struct walk *walk, size_t bytes, size_t count, ptrdiff_t *step)
{
	if (count == 1 || walk->cursor == pieces->target.cursor)
		return count;
	return least(count, cursor_row(walk->cursor, bytes, step));
}

/* Returns how many pieces of that size follow each other at even steps on all sides; room > 0. */
static size_t common_row(const struct pieces *pieces, size_t bytes, size_t room, struct steps *steps)
{
	size_t count = least(room, cursor_row(pieces->target.cursor, bytes, &steps->target));

	steps->origin = steps->result = steps->target;
	if (pieces->has_origin)
		count = row_of(pieces, &pieces->origin, bytes, count, &steps->origin);
	return pieces->has_result ? row_of(pieces, &pieces->result, bytes, count, &steps->result) : count;
}

static void take(struct oriel_origin_piece to[], struct walk *walk, size_t bytes, size_t count, ptrdiff_t step)
{
	uint8_t *addr = walk->addr + walk->cursor->offset;

	for (size_t i = 0; i < count; i++)
		to[i] = (struct oriel_origin_piece){ addr + (ptrdiff_t)i * step, bytes };
	if (walk->cursor == &walk->own)
		cursor_skip_row(walk->cursor, bytes, count);
}

/*
 * Returns whether the target begins before the window, or beyond any. Addresses in dynamic windows
 * may wrap.
 */
static bool is_outside(const struct pieces *pieces)
{
	return pieces->operation->window->flavor != MPI_WIN_FLAVOR_DYNAMIC && pieces->target_offset > PTRDIFF_MAX;
}

static void take_targets(struct pieces *pieces, size_t bytes, size_t count, ptrdiff_t step)
{
	bool outside = is_outside(pieces);
	size_t disp = pieces->target_offset + (outside ? 0 : (size_t)pieces->target.cursor->offset);
	struct oriel_target_piece *to = &pieces->targets[pieces->count];

	for (size_t i = 0; i < count; i++)
		to[i] = (struct oriel_target_piece){ disp + (outside ? 0 : i * (size_t)step), bytes };
	cursor_skip_row(pieces->target.cursor, bytes, count);
}

/* Adds the next pieces, as many as are alike and have room. Returns their bytes. */
static size_t add(struct pieces *pieces, size_t left_bytes)
{
	size_t bytes = common(pieces, left_bytes), at = (size_t)pieces->count, count;
	size_t most = at == 0 && !is_accumulate(pieces->operation) ? PIECES_ALIKE : PIECES_MAX;
	struct steps steps;

	count = common_row(pieces, bytes, most - at, &steps);
	if (count > 1)
		count = least(count, left_bytes / bytes);
	if (pieces->has_origin)
		take(&pieces->origins[at], &pieces->origin, bytes, count, steps.origin);
	if (pieces->has_result)
		take(&pieces->results[at], &pieces->result, bytes, count, steps.result);
	take_targets(pieces, bytes, count, steps.target); /* last: the others may use its cursor */
	pieces->count += (int)count;
	return count * bytes;
}

static int issue(const struct pieces *pieces)
{
	const struct operation *operation = pieces->operation;
	oriel_win *win = operation->window->win;
	const int rank = operation->rank, count = pieces->count;
	const enum oriel_type element = operation->target.known->element;

	switch (operation->kind) {
	case OPERATION_PUT:
		return oriel_putv(win, pieces->origins, count, rank, pieces->targets, count);
	case OPERATION_GET:
		return oriel_getv(win, pieces->origins, count, rank, pieces->targets, count);
	case OPERATION_ACCUMULATE:
		return oriel_accumulatev(win, pieces->origins, count, element, pieces->op, rank, pieces->targets, count);
	default:
		return oriel_get_accumulatev(win, pieces->has_origin ? pieces->origins : NULL, pieces->has_origin ? count : 0,
		                             pieces->results, count, element, pieces->op, rank, pieces->targets, count);
	}
}

/* Issues an empty operation, too: Oriel checks it. */
static int run(struct pieces *pieces, size_t left_bytes)
{
	int rc;

	do {
		pieces->count = 0;
		while (left_bytes > 0 && pieces->count < PIECES_MAX)
			left_bytes -= add(pieces, left_bytes);
		rc = issue(pieces);
	} while (rc == 0 && left_bytes > 0);
	return rc;
}

int transfer(const struct operation *operation, size_t size_bytes, size_t target_offset, enum oriel_op op)
{
	const bool elements = is_accumulate(operation);
	struct pieces pieces;

	pieces.operation = operation;
	pieces.op = op;
	pieces.target_offset = target_offset;
	pieces.has_origin = op != ORIEL_NO_OP;
	pieces.has_result = operation->kind == OPERATION_GET_ACCUMULATE;
	begin(&pieces.target, &operation->target, elements);
	if (pieces.has_origin)
		begin_beside(&pieces, &pieces.origin, &operation->origin, elements);
	if (pieces.has_result)
		begin_beside(&pieces, &pieces.result, &operation->result, elements);
	return run(&pieces, size_bytes);
}
