// SPDX-License-Identifier: BSD-2-Clause
/* transfer.c - operations in many pieces; see operation.h. */
#include "mpi/operation.h"

#include <stdint.h>

#define PIECES_MAX 256

/* One side on its way. */
struct walk {
	uint8_t *addr;
	struct layout_cursor cursor;
};

struct pieces {
	const struct operation *operation;
	enum oriel_op op;
	bool has_origin, has_result;
	size_t target_offset;
	struct walk origin, result, target;
	int count;
	struct oriel_origin_piece origins[PIECES_MAX], results[PIECES_MAX];
	struct oriel_target_piece targets[PIECES_MAX];
};

static bool is_accumulate(const struct operation *operation)
{
	return operation->kind >= OPERATION_ACCUMULATE;
}

static void begin(struct walk *walk, const struct side *side, bool elements)
{
	walk->addr = side->addr;
	cursor_begin(&walk->cursor, elements ? side->known->elements : side->known->bytes, (size_t)side->count,
	             side->known->extent_bytes);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* So long is the next piece on all sides. */
static size_t common(const struct pieces *pieces, size_t left_bytes)
{
	size_t bytes = least(left_bytes, pieces->target.cursor.left_bytes);

	if (pieces->has_origin)
		bytes = least(bytes, pieces->origin.cursor.left_bytes);
	return pieces->has_result ? least(bytes, pieces->result.cursor.left_bytes) : bytes;
}

static struct oriel_origin_piece take(struct walk *walk, size_t bytes)
{
	struct oriel_origin_piece piece = { walk->addr + walk->cursor.offset, bytes };

	cursor_skip(&walk->cursor, bytes);
	return piece;
}

/* What begins before the window, or beyond all windows, is out of range, whatever the datatype adds; addresses may wrap. */
static size_t target_disp(const struct pieces *pieces)
{
	if (pieces->operation->window->flavor != MPI_WIN_FLAVOR_DYNAMIC && pieces->target_offset > PTRDIFF_MAX)
		return pieces->target_offset;
	return pieces->target_offset + (size_t)pieces->target.cursor.offset;
}

static void add(struct pieces *pieces, size_t bytes)
{
	int i = pieces->count++;

	pieces->targets[i].disp = target_disp(pieces);
	pieces->targets[i].size_bytes = bytes;
	cursor_skip(&pieces->target.cursor, bytes);
	if (pieces->has_origin)
		pieces->origins[i] = take(&pieces->origin, bytes);
	if (pieces->has_result)
		pieces->results[i] = take(&pieces->result, bytes);
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

/* With no byte at all the call still says whether it is legal. */
static int run(struct pieces *pieces, size_t left_bytes)
{
	int rc;

	do {
		pieces->count = 0;
		while (left_bytes > 0 && pieces->count < PIECES_MAX) {
			size_t bytes = common(pieces, left_bytes);

			add(pieces, bytes);
			left_bytes -= bytes;
		}
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
		begin(&pieces.origin, &operation->origin, elements);
	if (pieces.has_result)
		begin(&pieces.result, &operation->result, elements);
	return run(&pieces, size_bytes);
}
