// SPDX-License-Identifier: BSD-2-Clause
/* oriel_operation_calls.c - operations of oriel.h; see oriel_calls.h */
#include <stdlib.h>

#include "check/front/oriel_calls.h"

#define CALLS(X)                                                                                              \
	X(put) X(get) X(putv) X(getv) X(accumulate) X(get_accumulate) X(fetch_and_op) X(compare_and_swap)         \
		X(accumulatev) X(get_accumulatev)

#include "check/front/next.h"

/* Pieces of one operation: those of the target, then those that are read, then those written. */
struct pieces {
	struct trace_piece few[8];
	struct trace_piece *list;
	size_t count;
	bool too_many;
};

static void make_pieces(struct pieces *pieces, size_t count)
{
	pieces->count = 0;
	pieces->too_many = count > TRACE_PIECES_MAX;
	pieces->list = pieces->few;
	if (count > sizeof(pieces->few) / sizeof(pieces->few[0]) && !pieces->too_many)
		pieces->list = malloc(count * sizeof(*pieces->list));
	pieces->too_many |= !pieces->list;
}

static void add_piece(struct pieces *pieces, uint64_t first, uint64_t bytes)
{
	if (!pieces->too_many)
		pieces->list[pieces->count++] = (struct trace_piece){ first, bytes };
}

static void add_memory(struct pieces *pieces, const void *address, uint64_t bytes)
{
	add_piece(pieces, (uint64_t)(uintptr_t)address, bytes);
}

static uint32_t positive(int count)
{
	return count > 0 ? (uint32_t)count : 0;
}

static void add_origins(struct pieces *pieces, const struct oriel_origin_piece list[], int count)
{
	for (uint32_t i = 0; list && i < positive(count); i++)
		add_memory(pieces, list[i].addr, list[i].size_bytes);
}

static void add_targets(struct pieces *pieces, const struct oriel_target_piece list[], int count)
{
	for (uint32_t i = 0; list && i < positive(count); i++)
		add_piece(pieces, list[i].disp, list[i].size_bytes);
}

/* An operation to a rank that the window does not have is refused, and no event. */
static void add_pieces(struct place here, oriel_win *win, int target_rank, struct trace_event event,
                       struct pieces *pieces)
{
	struct window *window = window_of(win);
	const int rank = window ? rank_of(window, target_rank) : -1;

	if (rank >= 0) {
		event.kind = TRACE_OPERATION;
		event.object = window->key;
		event.rank = rank;
		if (pieces->too_many)
			event.of.target_pieces = event.of.read_pieces = event.of.written_pieces = 0;
		trace_add_with(here, event, pieces->list, pieces->count);
	}
	if (pieces->list != pieces->few)
		free(pieces->list);
}

/* One piece on each side. NULL: that side has none. */
static void add_plain(struct place here, oriel_win *win, int target_rank, uint64_t target_disp, size_t bytes,
                      const void *read, const void *written, struct trace_event event)
{
	struct window *window = window_of(win);

	if (!window)
		return;
	event.object = window->key;
	event.rank = rank_of(window, target_rank);
	if (event.rank < 0)
		return;
	event.of.disp = target_disp;
	trace_plain(here, event, bytes, (uint64_t)(uintptr_t)read, (uint64_t)(uintptr_t)written);
}

static struct trace_event copy_event(enum trace_access access)
{
	return (struct trace_event){ .of = { .access = (uint8_t)access } };
}

static struct trace_event element_event(enum trace_access access, enum oriel_type type, enum oriel_op op)
{
	return (struct trace_event){ .of = { .access = (uint8_t)access, .type = (uint8_t)type, .op = (uint8_t)op } };
}

int oriel_put(oriel_win *win, const void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_put"), win, target_rank, target_disp, size_bytes, origin, NULL, copy_event(ACCESS_PUT));
	return leave(HERE("oriel_put"), win, next.put(win, origin, size_bytes, target_rank, target_disp));
}

int oriel_get(oriel_win *win, void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_get"), win, target_rank, target_disp, size_bytes, NULL, origin, copy_event(ACCESS_GET));
	return leave(HERE("oriel_get"), win, next.get(win, origin, size_bytes, target_rank, target_disp));
}

static void add_vector(struct place here, oriel_win *win, const struct oriel_origin_piece read[], int read_count,
                       const struct oriel_origin_piece written[], int written_count, int target_rank,
                       const struct oriel_target_piece target[], int target_count, struct trace_event event)
{
	struct pieces pieces;

	make_pieces(&pieces, (size_t)positive(read_count) + positive(written_count) + positive(target_count));
	add_targets(&pieces, target, target_count);
	add_origins(&pieces, read, read_count);
	add_origins(&pieces, written, written_count);
	event.of.target_pieces = positive(target_count);
	event.of.read_pieces = positive(read_count);
	event.of.written_pieces = positive(written_count);
	add_pieces(here, win, target_rank, event, &pieces);
}

int oriel_putv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	add_vector(HERE("oriel_putv"), win, origin, origin_count, NULL, 0, target_rank, target, target_count,
	           copy_event(ACCESS_PUT));
	return leave(HERE("oriel_putv"), win, next.putv(win, origin, origin_count, target_rank, target, target_count));
}

int oriel_getv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	add_vector(HERE("oriel_getv"), win, NULL, 0, origin, origin_count, target_rank, target, target_count,
	           copy_event(ACCESS_GET));
	return leave(HERE("oriel_getv"), win, next.getv(win, origin, origin_count, target_rank, target, target_count));
}

int oriel_accumulate(oriel_win *win, const void *origin, size_t count, enum oriel_type type, enum oriel_op op,
                     int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_accumulate"), win, target_rank, target_disp, count * oriel_type_bytes(type), origin, NULL,
	          element_event(ACCESS_ACCUMULATE, type, op));
	return leave(HERE("oriel_accumulate"), win,
	             next.accumulate(win, origin, count, type, op, target_rank, target_disp));
}

int oriel_get_accumulate(oriel_win *win, const void *origin, void *result, size_t count, enum oriel_type type,
                         enum oriel_op op, int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_get_accumulate"), win, target_rank, target_disp, count * oriel_type_bytes(type),
	          op == ORIEL_NO_OP ? NULL : origin, result, element_event(ACCESS_FETCH, type, op));
	return leave(HERE("oriel_get_accumulate"), win,
	             next.get_accumulate(win, origin, result, count, type, op, target_rank, target_disp));
}

int oriel_fetch_and_op(oriel_win *win, const void *origin, void *result, enum oriel_type type, enum oriel_op op,
                       int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_fetch_and_op"), win, target_rank, target_disp, oriel_type_bytes(type),
	          op == ORIEL_NO_OP ? NULL : origin, result, element_event(ACCESS_FETCH, type, op));
	return leave(HERE("oriel_fetch_and_op"), win,
	             next.fetch_and_op(win, origin, result, type, op, target_rank, target_disp));
}

int oriel_compare_and_swap(oriel_win *win, const void *origin, const void *compare, void *result, enum oriel_type type,
                           int target_rank, size_t target_disp)
{
	size_t bytes = oriel_type_bytes(type);
	struct trace_event event = element_event(ACCESS_FETCH, type, 0);
	struct pieces pieces;

	make_pieces(&pieces, 4);
	add_piece(&pieces, target_disp, bytes);
	add_memory(&pieces, origin, bytes);
	add_memory(&pieces, compare, bytes);
	add_memory(&pieces, result, bytes);
	event.of.target_pieces = 1;
	event.of.read_pieces = 2;
	event.of.written_pieces = 1;
	add_pieces(HERE("oriel_compare_and_swap"), win, target_rank, event, &pieces);
	return leave(HERE("oriel_compare_and_swap"), win,
	             next.compare_and_swap(win, origin, compare, result, type, target_rank, target_disp));
}

int oriel_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, enum oriel_type type,
                      enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count)
{
	add_vector(HERE("oriel_accumulatev"), win, origin, origin_count, NULL, 0, target_rank, target, target_count,
	           element_event(ACCESS_ACCUMULATE, type, op));
	return leave(HERE("oriel_accumulatev"), win,
	             next.accumulatev(win, origin, origin_count, type, op, target_rank, target, target_count));
}

int oriel_get_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count,
                          const struct oriel_origin_piece result[], int result_count, enum oriel_type type,
                          enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count)
{
	add_vector(HERE("oriel_get_accumulatev"), win, origin, op == ORIEL_NO_OP ? 0 : origin_count, result, result_count,
	           target_rank, target, target_count, element_event(ACCESS_FETCH, type, op));
	return leave(HERE("oriel_get_accumulatev"), win,
	             next.get_accumulatev(win, origin, origin_count, result, result_count, type, op, target_rank, target,
	                                  target_count));
}
