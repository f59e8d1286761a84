// SPDX-License-Identifier: BSD-2-Clause
/*
 * run_atomic.c - elements that several origins change
 *
 * Each origin puts its results onto the board of the elements' owner, which looks for an order of
 * all operations that explains them.
 */
#include "run.h"

#include <stdio.h>
#include <string.h>

#include "serial.h"

static size_t board_place(int w, int slot)
{
	return ((size_t)w * PLAN_SLOTS_MAX + (size_t)slot) * BOARD_SLOT_BYTES;
}

/* Reads the present value, which the operation expects. */
static void look(struct run *run, const struct plan_atomic *atomic, size_t at, void *value)
{
	enum oriel_type type = run->plan.win[run->event.win].arena[atomic->target].type;
	int target = member(run, run->event.win, atomic->target);
	oriel_win *win = run->win[run->event.win];

	if (!atomic->looks)
		return;
	must(run, oriel_fetch_and_op(win, NULL, value, type, ORIEL_NO_OP, target, at), "oriel_fetch_and_op");
	must(run, oriel_win_flush(win, target), "oriel_win_flush");
}

static void atomic_vector(struct run *run, const struct plan_atomic *atomic, size_t at, const struct range *all,
                          uint8_t *origin, uint8_t *result)
{
	const struct plan_part *part = &run->plan.win[run->event.win].part[atomic->target];
	enum oriel_type type = run->plan.win[run->event.win].arena[atomic->target].type;
	size_t half = (size_t)(atomic->count / 2) * elements_bytes(type), rest = all->size_bytes - half;
	struct oriel_origin_piece from[] = { { origin, all->size_bytes } }, back[] = { { result, all->size_bytes } };
	struct oriel_target_piece to[] = { { at, half }, { at + half / part->unit, rest } };
	int target = member(run, run->event.win, atomic->target);
	oriel_win *win = run->win[run->event.win];

	if (atomic->family == FAMILY_ACCUMULATE)
		must(run, oriel_accumulatev(win, from, 1, type, atomic->combine, target, to, 2), "oriel_accumulatev");
	else
		must(run, oriel_get_accumulatev(win, from, 1, back, 1, type, atomic->combine, target, to, 2),
		     "oriel_get_accumulatev");
}

/*
 * The function that needs the origin's elements makes them anew; these here live until the end of
 * the phase.
 */
static void atomic_operate(struct run *run, const struct plan_atomic *atomic, uint8_t *origin)
{
	const struct plan_part *part = &run->plan.win[run->event.win].part[atomic->target];
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[atomic->target];
	uint8_t *result = run->seen + board_place(run->event.win, atomic->slot), *compare = result + ELEMENT_LARGEST;
	size_t each = elements_bytes(arena->type), count = (size_t)atomic->count;
	struct range all = { .offset = arena->range.offset + (size_t)atomic->first * each, .size_bytes = count * each };
	size_t at = base_disp(run, run->event.win, atomic->target) + (all.offset - part->range.offset) / part->unit;
	int target = member(run, run->event.win, atomic->target);
	oriel_win *win = run->win[run->event.win];

	elements_fill(arena->type, origin, all.size_bytes, atomic->seed);
	if (atomic->family == FAMILY_COMPARE_AND_SWAP) {
		elements_fill(arena->type, compare, each, atomic->seed / 2);
		look(run, atomic, at, compare);
		must(run, oriel_compare_and_swap(win, origin, compare, result, arena->type, target, at),
		     "oriel_compare_and_swap");
	} else if (atomic->vector) {
		atomic_vector(run, atomic, at, &all, origin, result);
	} else if (atomic->family == FAMILY_FETCH_AND_OP) {
		must(run, oriel_fetch_and_op(win, origin, result, arena->type, atomic->combine, target, at),
		     "oriel_fetch_and_op");
	} else if (atomic->family == FAMILY_GET_ACCUMULATE) {
		must(run, oriel_get_accumulate(win, origin, result, count, arena->type, atomic->combine, target, at),
		     "oriel_get_accumulate");
	} else {
		must(run, oriel_accumulate(win, origin, count, arena->type, atomic->combine, target, at), "oriel_accumulate");
	}
}

void run_atomics(struct run *run)
{
	const struct event *event = &run->event;

	for (int i = event->atomic_first; i < event->atomic_first + event->atomic_count; i++) {
		const struct plan_atomic *atomic = &run->plan.atomics[event->win].list[i];

		atomic_operate(run, atomic, run->operands + board_place(event->win, atomic->slot));
	}
}

void publish_results(struct run *run)
{
	const struct plan_atomics *all = &run->plan.atomics[run->event.win];
	oriel_win *board = run->job->board;

	for (int i = 0; i < all->count; i++) {
		const struct plan_atomic *atomic = &all->list[i];
		size_t at = board_place(run->event.win, atomic->slot), size_bytes = (size_t)atomic->count * BOARD_SLOT_BYTES;

		if (atomic->origin == run->job->rank)
			must(run, oriel_put(board, run->seen + at, size_bytes, atomic->target, at), "oriel_put");
	}
	must(run, oriel_win_flush(board, ORIEL_RANK_ALL), "oriel_win_flush");
}

/* Describes how an operation has changed an element of an arena, from its result. */
static void make_edge(const struct run *run, const struct plan_atomic *atomic, int element, struct serial_edge *edge)
{
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[atomic->target];
	const uint8_t *seen = run->job->board_bytes + board_place(run->event.win, atomic->slot);
	uint8_t operands[PLAN_ARENA_MAX * ELEMENT_LARGEST];
	size_t each = elements_bytes(arena->type), at = (size_t)(element - atomic->first) * each;

	memset(edge, 0, sizeof(*edge));
	memcpy(edge->from, seen + at, each);
	memcpy(edge->to, seen + at, each);
	elements_fill(arena->type, operands, (size_t)atomic->count * each, atomic->seed);
	if (atomic->family != FAMILY_COMPARE_AND_SWAP || memcmp(seen, seen + ELEMENT_LARGEST, each) == 0)
		elements_apply(arena->type, atomic->combine, edge->to, operands + at);
}

/* The element's operations: as edges; or their total, onto *total. Gives their number. */
static int gather(const struct run *run, int element, struct serial_edge *edges, uint8_t *total)
{
	const struct plan_atomics *all = &run->plan.atomics[run->event.win];
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[run->job->rank];
	uint8_t operands[PLAN_ARENA_MAX * ELEMENT_LARGEST];
	size_t each = elements_bytes(arena->type);
	int count = 0;

	for (int i = 0; i < all->count; i++) {
		const struct plan_atomic *atomic = &all->list[i];

		if (atomic->target != run->job->rank || element - atomic->first < 0 || element - atomic->first >= atomic->count)
			continue;
		elements_fill(arena->type, operands, (size_t)atomic->count * each, atomic->seed);
		if (arena->total)
			elements_apply(arena->type, atomic->combine, total, operands + (size_t)(element - atomic->first) * each);
		else
			make_edge(run, atomic, element, &edges[count++]);
	}
	return count;
}

static void check_element(struct run *run, int element, const uint8_t *first, const uint8_t *last)
{
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[run->job->rank];
	static struct serial_edge edges[PLAN_ATOMICS_MAX];
	size_t each = elements_bytes(arena->type), at = (size_t)element * each;
	uint8_t from[ELEMENT_LARGEST] = { 0 }, to[ELEMENT_LARGEST] = { 0 };
	char text[TEXT_BYTES];
	int count;

	memcpy(from, first + at, each);
	memcpy(to, last + at, each);
	count = gather(run, element, edges, from);
	if (arena->total ? memcmp(from, to, each) == 0 : serial_order_exists(edges, count, from, to))
		return;
	run->differences++;
	run_describe(run, text);
	printf("not ok %s: no order of %d operations of type %d%s explains element %d at window offset %zu\n", text, count,
	       (int)arena->type, arena->total ? " (a total)" : "", element,
	       arena->range.offset + at - run->plan.win[run->event.win].part[run->job->rank].range.offset);
	fflush(stdout);
}

void close_arena(struct run *run)
{
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[run->job->rank];
	uint8_t first[PLAN_ARENA_MAX * ELEMENT_LARGEST], *now;

	must(run, oriel_win_sync(run->win[run->event.win]), "oriel_win_sync");
	must(run, oriel_win_sync(run->job->board), "oriel_win_sync");
	if (arena->count == 0)
		return;
	now = run->bytes[arena->range.region] + arena->range.offset;
	elements_fill(arena->type, first, arena->range.size_bytes, arena->seed);
	for (int i = 0; i < arena->count; i++)
		check_element(run, i, first, now);
	elements_fill(arena->type, now, arena->range.size_bytes, ~arena->seed);
}
