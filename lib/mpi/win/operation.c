// SPDX-License-Identifier: BSD-2-Clause
/* See operation.h. */
#include "mpi/win/operation.h"

#include <stdint.h>
#include <stdio.h>

#include "mpi/type/flatten.h"
#include "mpi/win/error.h"
#include "op/row.h"

int operation_member(const struct window *window, int rank, const char *call)
{
	char why[96];

	if (rank >= 0 && rank < window->rank_count)
		return MPI_SUCCESS;
	snprintf(why, sizeof(why), "target rank %d, its group has ranks 0 to %d", rank, window->rank_count - 1);
	return error_on_window(window, MPI_ERR_RANK, call, why);
}

static const char *call_of(const struct operation *operation)
{
	static const char *const calls[] = { [OPERATION_PUT] = "MPI_Put",
		                                 [OPERATION_GET] = "MPI_Get",
		                                 [OPERATION_ACCUMULATE] = "MPI_Accumulate",
		                                 [OPERATION_GET_ACCUMULATE] = "MPI_Get_accumulate" };

	return calls[operation->kind];
}

static int refuse(const struct operation *operation, int class, const char *why)
{
	return error_on_window(operation->window, class, call_of(operation), why);
}

static bool know(struct side *side)
{
	side->known = datatype_of(side->type);
	return side->known && side->count >= 0;
}

static const char *name_of(const struct operation *operation, const struct side *side)
{
	if (side == &operation->origin)
		return "origin";
	return side == &operation->target ? "target" : "result";
}

static int not_known(const struct operation *operation, const struct side *side)
{
	const char *name = name_of(operation, side);
	char why[96];

	if (side->count < 0) {
		snprintf(why, sizeof(why), "the %s's count is %lld, must be 0 or more", name, (long long)side->count);
		return refuse(operation, MPI_ERR_COUNT, why);
	}
	snprintf(why, sizeof(why), "the %s's datatype is %s", name, datatype_why_not(side->type));
	return refuse(operation, MPI_ERR_TYPE, why);
}

/* Bytes without the gaps of pairs, which element_bytes_of counts. */
static size_t bytes_of(const struct side *side)
{
	return (size_t)side->count * side->known->bytes->size_bytes;
}

static size_t element_bytes_of(const struct side *side)
{
	return (size_t)side->count * side->known->elements->size_bytes;
}

static int truncated(const struct operation *operation)
{
	return refuse(operation, MPI_ERR_TRUNCATE, "the data has no room on the other side");
}

/*
 * Returns false if the target begins before the window, or beyond any. Addresses in dynamic windows
 * may wrap.
 */
static bool begins_inside(const struct operation *operation, size_t target_offset)
{
	return operation->window->flavor == MPI_WIN_FLAVOR_DYNAMIC || target_offset <= PTRDIFF_MAX;
}

/*
 * Returns whether the side is one piece, *ahead of its address. A pair with a gap is one element.
 */
static bool is_piece(const struct side *side, const struct layout *layout, ptrdiff_t *ahead)
{
	const struct datatype *known = side->known;

	*ahead = 0;
	if (known->dense)
		return true;
	layout = layout_only(layout, ahead);
	return layout->kind == LAYOUT_RUN && (side->count == 1 || known->extent_bytes == (ptrdiff_t)layout->size_bytes);
}

static bool is_target_piece(const struct operation *operation, const struct layout *layout, ptrdiff_t *ahead)
{
	return is_piece(&operation->target, layout, ahead) &&
	       (*ahead == 0 || begins_inside(operation, operation_offset(operation)));
}

static int copy(const struct operation *operation)
{
	const bool get = operation->kind == OPERATION_GET;
	const struct side *origin = &operation->origin, *target = &operation->target;
	size_t bytes = bytes_of(get ? target : origin), offset = operation_offset(operation);
	oriel_win *win = operation->window->win;
	ptrdiff_t here, there;
	int rc;

	if (bytes > bytes_of(get ? origin : target))
		return truncated(operation);
	if (!is_piece(origin, origin->known->bytes, &here) || !is_target_piece(operation, target->known->bytes, &there))
		rc = transfer(operation, bytes, offset, ORIEL_REPLACE);
	else if (get)
		rc = oriel_get(win, (uint8_t *)origin->addr + here, bytes, operation->rank, offset + (size_t)there);
	else
		rc = oriel_put(win, (uint8_t *)origin->addr + here, bytes, operation->rank, offset + (size_t)there);
	return error_of_call(operation->window, rc);
}

struct ahead {
	ptrdiff_t origin, result, target;
};

static bool are_pieces(const struct operation *operation, enum oriel_op op, struct ahead *ahead)
{
	const struct side *origin = &operation->origin, *result = &operation->result;

	*ahead = (struct ahead){ 0 };
	return is_target_piece(operation, operation->target.known->elements, &ahead->target) &&
	       (op == ORIEL_NO_OP || is_piece(origin, origin->known->elements, &ahead->origin)) &&
	       (operation->kind == OPERATION_ACCUMULATE || is_piece(result, result->known->elements, &ahead->result));
}

static size_t combined_bytes(const struct operation *operation, enum oriel_op op)
{
	return element_bytes_of(op == ORIEL_NO_OP ? &operation->target : &operation->origin);
}

/* Oriel checks the rest. */
static int combine_nothing(const struct operation *operation)
{
	return error_of_call(operation->window,
	                     oriel_accumulate(operation->window->win, NULL, 0, ORIEL_UINT8, ORIEL_REPLACE, operation->rank,
	                                      operation_offset(operation)));
}

static int combine(const struct operation *operation)
{
	const enum oriel_op op = element_op(operation->op);
	const enum oriel_type element = operation->target.known->element;
	const size_t bytes = combined_bytes(operation, op);
	size_t count, offset = operation_offset(operation);
	oriel_win *win = operation->window->win;
	struct ahead ahead;
	uint8_t *origin;
	int rc;

	if (bytes == 0)
		return combine_nothing(operation);
	if (bytes > element_bytes_of(&operation->target))
		return truncated(operation);
	if (operation->kind == OPERATION_GET_ACCUMULATE && bytes > element_bytes_of(&operation->result))
		return truncated(operation);
	count = bytes / oriel_type_bytes(element);
	if (!are_pieces(operation, op, &ahead))
		return error_of_call(operation->window, transfer(operation, bytes, offset, op));
	origin = (uint8_t *)operation->origin.addr + ahead.origin;
	offset += (size_t)ahead.target;
	if (operation->kind == OPERATION_ACCUMULATE)
		rc = oriel_accumulate(win, origin, count, element, op, operation->rank, offset);
	else
		rc = oriel_get_accumulate(win, origin, (uint8_t *)operation->result.addr + ahead.result, count, element, op,
		                          operation->rank, offset);
	return error_of_call(operation->window, rc);
}

static bool same_element(const struct operation *operation, enum oriel_op op)
{
	enum oriel_type element = operation->target.known->element;

	if (op != ORIEL_NO_OP && operation->origin.known->element != element)
		return false;
	if (operation->kind == OPERATION_GET_ACCUMULATE && operation->result.known->element != element)
		return false;
	return element != ELEMENT_NONE;
}

int operation_barred(const struct window *window, const struct datatype *datatype, enum oriel_op op, const char *call)
{
	if (!(datatype->barred & ELEMENT_OP(op)))
		return MPI_SUCCESS;
	return error_on_window(window, MPI_ERR_OP, call, "MPI defines no such operation on the datatype");
}

/* Checks both sides: one type of Oriel's may be two of MPI's. */
static int barred(const struct operation *operation, enum oriel_op op)
{
	int rc = operation_barred(operation->window, operation->target.known, op, call_of(operation));

	if (rc == MPI_SUCCESS && op != ORIEL_NO_OP)
		rc = operation_barred(operation->window, operation->origin.known, op, call_of(operation));
	return rc;
}

static int refuse_mixture(const struct operation *operation, enum oriel_op op)
{
	const struct side *target = &operation->target;
	bool is_result = op == ORIEL_NO_OP || operation->origin.known->element == target->known->element;
	const struct side *other =
		is_result && operation->kind == OPERATION_GET_ACCUMULATE ? &operation->result : &operation->origin;
	char names[2][MPI_MAX_OBJECT_NAME], why[2 * MPI_MAX_OBJECT_NAME + 128];

	snprintf(why, sizeof(why), "an accumulate wants one predefined datatype: the %s's is %s, the target's %s",
	         other == &operation->origin ? "origin" : "result",
	         contents_name(other->type, other->known->element, names[0]),
	         contents_name(target->type, target->known->element, names[1]));
	return refuse(operation, MPI_ERR_TYPE, why);
}

/* Checks the operation and the elements. An empty accumulate may have any. */
static int refuse_elements(const struct operation *operation)
{
	enum oriel_op op = element_op(operation->op);

	if (!op)
		return refuse(operation, MPI_ERR_OP, "the operation is none of MPI's own");
	if (combined_bytes(operation, op) > 0 && !same_element(operation, op))
		return refuse_mixture(operation, op);
	return barred(operation, op);
}

static struct side *wrong_side(struct operation *operation)
{
	if (!know(&operation->target))
		return &operation->target;
	if (operation->kind == OPERATION_GET_ACCUMULATE && !know(&operation->result))
		return &operation->result;
	if (!(operation->kind == OPERATION_GET_ACCUMULATE && operation->op == MPI_NO_OP) && !know(&operation->origin))
		return &operation->origin;
	return NULL;
}

/* Checks arguments for MPI_PROC_NULL, too, as both MPIs do. */
int operation_do(struct operation *operation)
{
	const bool copies = operation->kind <= OPERATION_GET;
	struct side *wrong = wrong_side(operation);
	int rc;

	if (wrong)
		return not_known(operation, wrong);
	rc = copies ? MPI_SUCCESS : refuse_elements(operation);
	if (rc || operation->rank == MPI_PROC_NULL)
		return rc;
	rc = operation_member(operation->window, operation->rank, call_of(operation));
	if (rc)
		return rc;
	return copies ? copy(operation) : combine(operation);
}

/* operations in many pieces; see operation.h. */

#define PIECES_MAX 256 /* of a call of Oriel */
#define ROW_MIN 16     /* a shorter row is part of a list */

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
	struct oriel_origin_piece origins[PIECES_MAX], results[PIECES_MAX];
	struct oriel_target_piece targets[PIECES_MAX];
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

/* The target's cursor moves last. */
static void skip(struct walk *walk, size_t bytes, size_t count)
{
	if (walk->cursor == &walk->own)
		cursor_skip_row(walk->cursor, bytes, count);
}

static void take(struct oriel_origin_piece to[], struct walk *walk, size_t bytes, size_t count, ptrdiff_t step)
{
	uint8_t *addr = walk->addr + walk->cursor->offset;

	for (size_t i = 0; i < count; i++)
		to[i] = (struct oriel_origin_piece){ addr + (ptrdiff_t)i * step, bytes };
	skip(walk, bytes, count);
}

static bool is_outside(const struct pieces *pieces)
{
	return !begins_inside(pieces->operation, pieces->target_offset);
}

static void take_targets(struct pieces *pieces, size_t bytes, size_t count, ptrdiff_t step)
{
	bool outside = is_outside(pieces);
	size_t disp = pieces->target_offset + (outside ? 0 : (size_t)pieces->target.cursor->offset);
	struct oriel_target_piece *to = &pieces->targets[pieces->count];

	for (size_t i = 0; i < count; i++)
		to[i] = (struct oriel_target_piece){ disp + (outside ? 0 : i * (size_t)step), bytes };
	skip(&pieces->target, bytes, count);
}

static bool is_shared(const struct pieces *pieces)
{
	const struct layout_cursor *cursor = pieces->target.cursor;

	return !(pieces->has_origin && pieces->origin.cursor != cursor) &&
	       !(pieces->has_result && pieces->result.cursor != cursor);
}

static size_t add_shared(struct pieces *pieces, size_t left_bytes)
{
	const size_t at = (size_t)pieces->count;
	struct oriel_place found[PIECES_MAX];
	const size_t count = cursor_take(pieces->target.cursor, found, PIECES_MAX - at, left_bytes);
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		const struct oriel_place piece = found[i];

		pieces->targets[at + i] =
			(struct oriel_target_piece){ pieces->target_offset + (size_t)piece.offset, piece.size_bytes };
		if (pieces->has_origin)
			pieces->origins[at + i] =
				(struct oriel_origin_piece){ pieces->origin.addr + piece.offset, piece.size_bytes };
		if (pieces->has_result)
			pieces->results[at + i] =
				(struct oriel_origin_piece){ pieces->result.addr + piece.offset, piece.size_bytes };
		bytes += piece.size_bytes;
	}
	pieces->count += (int)count;
	return bytes;
}

/* Adds the next pieces, as many as are alike and have room. Returns their bytes. */
static size_t add(struct pieces *pieces, size_t left_bytes)
{
	size_t bytes = common(pieces, left_bytes), at = (size_t)pieces->count, count;
	struct steps steps;

	count = common_row(pieces, bytes, PIECES_MAX - at, &steps);
	if (count == 1 && is_shared(pieces) && !is_outside(pieces))
		return add_shared(pieces, left_bytes);
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

static void take_blocks(struct oriel_origin_piece to[], const struct oriel_row_side *side, const struct oriel_row *row,
                        size_t done, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (struct oriel_origin_piece){ (uint8_t *)side->first + (ptrdiff_t)(done + i) * side->distance,
			                                 row->block_bytes };
}

static int issue_blocks(struct pieces *pieces, const struct oriel_row *row)
{
	const bool get = pieces->operation->kind == OPERATION_GET;
	int rc = 0;

	for (size_t done = 0, count; rc == 0 && done < row->blocks; done += count) {
		count = least(row->blocks - done, PIECES_MAX);
		if (pieces->has_origin)
			take_blocks(pieces->origins, get ? &row->result : &row->origin, row, done, count);
		if (pieces->has_result)
			take_blocks(pieces->results, &row->result, row, done, count);
		for (size_t i = 0; i < count; i++)
			pieces->targets[i] =
				(struct oriel_target_piece){ row->disp + (done + i) * (size_t)row->distance, row->block_bytes };
		pieces->count = (int)count;
		rc = issue(pieces);
	}
	return rc;
}

/* Issues an empty list, too: Oriel checks it. */
static int issue_list(struct pieces *pieces, size_t *left_bytes)
{
	pieces->count = 0;
	while (*left_bytes > 0 && pieces->count < PIECES_MAX)
		*left_bytes -= add(pieces, *left_bytes);
	return issue(pieces);
}

static struct oriel_row_side side_at(const struct walk *walk, ptrdiff_t ahead, ptrdiff_t step)
{
	return (struct oriel_row_side){ walk->addr + walk->cursor->offset + ahead, step };
}

static struct oriel_row row_of_kind(const struct operation *operation, enum oriel_op op)
{
	const bool accumulates = is_accumulate(operation);

	return (struct oriel_row){ .type = accumulates ? operation->target.known->element : ORIEL_UINT8,
		                       .op = operation->kind == OPERATION_GET ? ORIEL_NO_OP : op,
		                       .accumulates = accumulates };
}

/* The first block lies `ahead` of the next piece. */
static struct oriel_row row_ahead(const struct pieces *pieces, ptrdiff_t ahead, const struct steps *steps)
{
	const bool get = pieces->operation->kind == OPERATION_GET;
	struct oriel_row row = row_of_kind(pieces->operation, pieces->op);

	row.disp = pieces->target_offset + (size_t)(pieces->target.cursor->offset + ahead);
	row.distance = steps->target;
	if (pieces->has_origin)
		*(get ? &row.result : &row.origin) = side_at(&pieces->origin, ahead, steps->origin);
	if (pieces->has_result)
		row.result = side_at(&pieces->result, ahead, steps->result);
	return row;
}

static int do_row(const struct pieces *pieces, const struct oriel_row *row)
{
	return oriel_row(pieces->operation->window->win, row, pieces->operation->rank);
}

static int issue_row(struct pieces *pieces, size_t *left_bytes)
{
	const size_t bytes = common(pieces, *left_bytes);
	struct steps steps;
	const size_t count = common_row(pieces, bytes, *left_bytes / bytes, &steps);
	struct oriel_row row;
	int rc;

	if (count < ROW_MIN)
		return ORIEL_ROW_NOT;
	row = row_ahead(pieces, 0, &steps);
	row.block_bytes = bytes;
	row.blocks = count;
	rc = do_row(pieces, &row);
	if (rc)
		return rc;
	if (pieces->has_origin)
		skip(&pieces->origin, bytes, count);
	if (pieces->has_result)
		skip(&pieces->result, bytes, count);
	skip(&pieces->target, bytes, count);
	*left_bytes -= count * bytes;
	return 0;
}

/* Issues turns of a datatype that all sides have, a row for each entry. */
static int issue_turns(struct pieces *pieces, size_t *left_bytes)
{
	struct layout_turns turns;
	struct steps steps;
	size_t count;
	int rc = 0;

	if (!is_shared(pieces) || !cursor_turns(pieces->target.cursor, &turns))
		return ORIEL_ROW_NOT;
	count = least(turns.count, *left_bytes / turns.list->size_bytes);
	if (count < ROW_MIN)
		return ORIEL_ROW_NOT;
	steps = (struct steps){ turns.stride, turns.stride, turns.stride };
	for (size_t i = 0; rc == 0 && i < turns.list->count; i++) {
		const struct layout_entry *entry = &turns.list->entries[i];
		struct oriel_row row = row_ahead(pieces, turns.offset + entry->offset - pieces->target.cursor->offset, &steps);

		row.block_bytes = entry->part->size_bytes;
		row.blocks = count;
		row.woven = true;
		rc = do_row(pieces, &row);
		if (rc == ORIEL_ROW_NOT && i > 0)
			rc = issue_blocks(pieces, &row);
	}
	if (rc)
		return rc;
	cursor_skip_turns(pieces->target.cursor, count);
	*left_bytes -= count * turns.list->size_bytes;
	return 0;
}

static int run(struct pieces *pieces, size_t left_bytes)
{
	int rc;

	do {
		rc = ORIEL_ROW_NOT;
		if (left_bytes > 0 && !is_outside(pieces))
			rc = issue_row(pieces, &left_bytes);
		if (rc == ORIEL_ROW_NOT && left_bytes > 0 && !is_outside(pieces))
			rc = issue_turns(pieces, &left_bytes);
		if (rc == ORIEL_ROW_NOT)
			rc = issue_list(pieces, &left_bytes);
	} while (rc == 0 && left_bytes > 0);
	return rc;
}

/* Runs that lie alike on both sides, or without gaps on one. */

/* Returns the datatype whose places all bytes have; NULL: other ways are better. */
static const struct datatype *placed(const struct operation *operation, size_t size_bytes, size_t target_offset)
{
	const struct datatype *origin = operation->origin.known, *target = operation->target.known;
	const struct datatype *known = target->dense ? origin : target;
	const struct oriel_places *places;

	if (is_accumulate(operation) || (origin != target && !origin->dense && !target->dense))
		return NULL;
	places = known->bytes->places;
	if (!places || size_bytes == 0 || size_bytes % known->size_bytes != 0 ||
	    (places->count <= SHORT_LIST && size_bytes / known->size_bytes >= ROW_MIN) ||
	    !begins_inside(operation, target_offset))
		return NULL;
	return known;
}

static int issue_places(struct pieces *pieces, const struct oriel_alike *alike, int at)
{
	const struct oriel_place *place = &alike->places->list[at];

	pieces->count = (int)least((size_t)(alike->places->count - at), PIECES_MAX);
	for (int i = 0; i < pieces->count; i++, place++) {
		pieces->origins[i] =
			(struct oriel_origin_piece){ (uint8_t *)alike->here + piece_here(alike, place), place->size_bytes };
		pieces->targets[i] =
			(struct oriel_target_piece){ alike->disp + (size_t)piece_there(alike, place), place->size_bytes };
	}
	return issue(pieces);
}

static int run_places(struct pieces *pieces, const struct oriel_alike *alike)
{
	const struct operation *operation = pieces->operation;
	const int count = alike->places->count;
	int at = 0, rc = 0;

	while (rc >= 0 && at < count) {
		rc = oriel_alike(operation->window->win, alike, at, operation->rank);
		at += rc;
		if (rc != 0)
			continue;
		rc = issue_places(pieces, alike, at);
		at += pieces->count;
	}
	return rc < 0 ? rc : 0;
}

/* How far it is on one side from one of the datatype to the next. */
static ptrdiff_t step_of(const struct datatype *known, bool dense)
{
	return dense ? (ptrdiff_t)known->size_bytes : known->extent_bytes;
}

static int transfer_places(struct pieces *pieces, const struct datatype *known, size_t times)
{
	const struct operation *operation = pieces->operation;
	struct oriel_alike alike = { .places = known->bytes->places,
		                         .here = operation->origin.addr,
		                         .disp = pieces->target_offset,
		                         .put = operation->kind == OPERATION_PUT,
		                         .dense_here = operation->origin.known->dense,
		                         .dense_there = operation->target.known->dense };
	const ptrdiff_t step_here = step_of(known, alike.dense_here), step_there = step_of(known, alike.dense_there);
	int rc = 0;

	for (; rc == 0 && times > 0; times--) {
		rc = run_places(pieces, &alike);
		alike.here = (uint8_t *)alike.here + step_here;
		alike.disp += (size_t)step_there;
	}
	return rc;
}

static bool is_one_alike(const struct operation *operation, bool has_origin, bool has_result)
{
	const struct side *origin = &operation->origin, *result = &operation->result, *target = &operation->target;

	return target->count == 1 && (!has_origin || (origin->known == target->known && origin->count == 1)) &&
	       (!has_result || (result->known == target->known && result->count == 1));
}

/* Transfers one row on all sides; else returns ORIEL_ROW_NOT. */
static int transfer_row(const struct operation *operation, size_t target_offset, enum oriel_op op)
{
	const bool get = operation->kind == OPERATION_GET, has_origin = op != ORIEL_NO_OP;
	const bool has_result = operation->kind == OPERATION_GET_ACCUMULATE;
	const struct datatype *known = operation->target.known;
	struct oriel_row row = row_of_kind(operation, op);
	const struct layout *loop;
	ptrdiff_t ahead;

	loop = layout_is_row(row.accumulates ? known->elements : known->bytes, &ahead);
	if (!loop || !is_one_alike(operation, has_origin, has_result) || !begins_inside(operation, target_offset))
		return ORIEL_ROW_NOT;
	row.block_bytes = loop->part->size_bytes;
	row.blocks = loop->count;
	row.disp = target_offset + (size_t)ahead;
	row.distance = loop->stride;
	if (has_origin)
		*(get ? &row.result : &row.origin) =
			(struct oriel_row_side){ (uint8_t *)operation->origin.addr + ahead, loop->stride };
	if (has_result)
		row.result = (struct oriel_row_side){ (uint8_t *)operation->result.addr + ahead, loop->stride };
	return oriel_row(operation->window->win, &row, operation->rank);
}

int transfer(const struct operation *operation, size_t size_bytes, size_t target_offset, enum oriel_op op)
{
	const bool elements = is_accumulate(operation);
	const struct datatype *known;
	struct pieces pieces;
	int rc = transfer_row(operation, target_offset, op);

	if (rc != ORIEL_ROW_NOT)
		return rc;
	pieces.operation = operation;
	pieces.target_offset = target_offset;
	known = placed(operation, size_bytes, target_offset);
	if (known)
		return transfer_places(&pieces, known, size_bytes / known->size_bytes);
	pieces.op = op;
	pieces.has_origin = op != ORIEL_NO_OP;
	pieces.has_result = operation->kind == OPERATION_GET_ACCUMULATE;
	begin(&pieces.target, &operation->target, elements);
	if (pieces.has_origin)
		begin_beside(&pieces, &pieces.origin, &operation->origin, elements);
	if (pieces.has_result)
		begin_beside(&pieces, &pieces.result, &operation->result, elements);
	return run(&pieces, size_bytes);
}
