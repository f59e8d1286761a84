// SPDX-License-Identifier: BSD-2-Clause
/* See view.h. */
#include <stdlib.h>

#include "check/judge/view.h"

#define PLACES 1024 /* of the table of views */

static struct view *table[PLACES]; /* by window and rank */

static struct view **place_of(uint64_t key, int rank)
{
	return &table[(key ^ key >> 32 ^ (uint64_t)rank * 0x9e3779b1) % PLACES];
}

struct view *view_of(uint64_t key, int rank)
{
	struct view *view = rank < 0 || rank >= replaying.traces->size ? NULL : *place_of(key, rank);

	while (view && (view->key != key || view->rank != rank))
		view = view->next_of_table;
	return view;
}

static struct judge_window *window_of(uint64_t key)
{
	struct judge_window *window;

	for (int rank = 0; rank < replaying.traces->size; rank++) {
		if (view_of(key, rank))
			return view_of(key, rank)->window;
	}
	window = calloc(1, sizeof(*window));
	if (!window)
		program_fail("out of memory");
	window->key = key;
	return window;
}

void add_view(const struct trace_event *event, int rank)
{
	struct view *view = calloc(1, sizeof(*view)), **place = place_of(event->object, rank);

	if (!view)
		program_fail("out of memory");
	view->key = event->object;
	view->rank = rank;
	view->window = window_of(event->object);
	view->window->is_shared |= (event->flags & WINDOW_SHARED) != 0;
	view->window->is_of_mpi |= (event->flags & WINDOW_OF_MPI) != 0;
	view->base = event->base;
	view->size_bytes = event->size_bytes;
	view->made_at = event->site;
	view->closed_at = view->latest.site = TRACE_NONE;
	view->unit_bytes = event->unit_bytes;
	view->is_dynamic = event->flags & WINDOW_DYNAMIC;
	view->next_of_table = *place;
	*place = view;
}

void open_view(struct view *view)
{
	if (!view || view->is_open)
		return;
	view->is_open = true;
	view->next_of_rank = replaying.ranks[view->rank].views;
	replaying.ranks[view->rank].views = view;
}

void add_mapping(struct view *view, int rank, uint64_t first, uint64_t bytes)
{
	struct rank_state *state = &replaying.ranks[rank];

	for (uint32_t i = 0; i < state->mapping_count; i++) {
		if (state->mappings[i].view == view)
			return;
	}
	*(struct mapping *)program_append(&state->mappings, &state->mapping_count, &state->mapping_capacity,
	                                  sizeof(struct mapping)) = (struct mapping){ view, first, first + bytes };
}

static void drop_mappings(const struct view *view)
{
	struct rank_state *state = &replaying.ranks[view->rank];

	for (uint32_t i = state->mapping_count; i-- > 0;) {
		if (state->mappings[i].view->key == view->key)
			state->mappings[i] = state->mappings[--state->mapping_count];
	}
}

void close_view(struct view *view)
{
	struct view **at = &replaying.ranks[view->rank].views;

	drop_mappings(view);
	while (*at && *at != view)
		at = &(*at)->next_of_rank;
	if (*at)
		*at = view->next_of_rank;
	view->is_open = false;
}

void for_views(void (*call)(const struct view *view))
{
	for (int i = 0; i < PLACES; i++) {
		for (const struct view *view = table[i]; view; view = view->next_of_table)
			call(view);
	}
}

/* ---- partners ---- */

struct partner *find_partner(struct partners *partners, int rank)
{
	for (uint32_t i = 0; i < partners->count; i++) {
		if (partners->list[i].rank == rank)
			return &partners->list[i];
	}
	return NULL;
}

void drop_number(struct partners *partners, uint64_t number)
{
	for (uint32_t i = 0; i < partners->count; i++) {
		if (partners->list[i].number != number)
			continue;
		partners->list[i] = partners->list[--partners->count];
		return;
	}
}

static struct partner *append(struct partners *partners)
{
	return program_append(&partners->list, &partners->count, &partners->capacity, sizeof(struct partner));
}

void add_partner(struct partners *partners, uint64_t number, const struct trace_event *event)
{
	*append(partners) = (struct partner){ event->rank, number, event->site, event->flags };
}

void drop_partner(struct partners *partners, int rank)
{
	struct partner *partner = find_partner(partners, rank);

	if (partner)
		*partner = partners->list[--partners->count];
}

uint64_t count_partner(struct partners *partners, int rank)
{
	struct partner *partner = find_partner(partners, rank);

	if (!partner) {
		partner = append(partners);
		partner->rank = rank;
	}
	return ++partner->number;
}
