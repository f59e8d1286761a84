// SPDX-License-Identifier: BSD-2-Clause
/* remote.c - waits that ranks of other machines end, and what these began; see call.h and part.h */
#include <stdlib.h>
#include <string.h>

#include "see/front/call.h"

/* ---- epochs with each rank ---- */

/* One side of a window's epochs. The calls of a side follow each other. */
struct side {
	uint32_t *counts; /* by rank of the job; NULL: none yet */
	int *ranks;       /* of the latest group */
	int rank_count;
	bool is_lost; /* a group could not be counted: no number is right any more */
};

static struct side exposures[PART_WINDOWS], accesses[PART_WINDOWS];

static bool is_in_job(const struct part *part, int rank)
{
	return rank >= 0 && rank < part->header.size;
}

/* Takes over the list. */
static void count_epoch(const struct part *part, struct side *side, int *ranks, int count)
{
	if (!side->counts)
		side->counts = calloc((size_t)part->header.size, sizeof(*side->counts));
	side->is_lost |= !ranks || !side->counts;
	free(side->ranks);
	side->ranks = ranks;
	side->rank_count = side->is_lost ? 0 : count;
	for (int i = 0; i < side->rank_count; i++) {
		if (is_in_job(part, ranks[i]))
			side->counts[ranks[i]]++;
	}
}

/* Returns the number of the latest epoch with the rank; 0: not known. */
static uint32_t epoch_of(const struct part *part, const struct side *side, int rank)
{
	return side->counts && !side->is_lost && is_in_job(part, rank) ? side->counts[rank] : 0;
}

/* ---- calls that begin ---- */

static void add_begin(struct part *part, enum part_event event, uint32_t window, uint64_t number, uint64_t begun)
{
	uint32_t at = __atomic_fetch_add(&part->remote.begin_count, 1, __ATOMIC_RELAXED) % PART_BEGINS;
	struct part_begin *begin = &part->remote.begins[at];

	__atomic_store_n(&begin->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	begin->begun_ns = clock_ns(begun);
	begin->window = window;
	begin->event = event;
	__atomic_store_n(&begin->number, number, __ATOMIC_RELEASE); /* a killed process leaves whole entries, or none */
}

static void add_begin_of_each(struct part *part, enum part_event event, uint32_t window, const struct side *side,
                              uint64_t begun)
{
	for (int i = 0; i < side->rank_count; i++) {
		int rank = side->ranks[i];
		uint64_t number = (uint64_t)(rank + 1) << PART_RANK_SHIFT | epoch_of(part, side, rank);

		if (is_in_job(part, rank))
			add_begin(part, event, window, number, begun);
	}
}

void remote_add_begin(struct part *part, enum part_event event, uint32_t window, uint64_t number, uint64_t begun)
{
	if (event == EVENT_COMPLETE && window != PART_NONE)
		add_begin_of_each(part, event, window, &accesses[window], begun);
	else if (event != EVENT_COMPLETE && event != EVENT_POST) /* remote_posted */
		add_begin(part, event, window, number, begun);
}

bool remote_wants_groups(const struct call *call)
{
	return part_of_process() && call->window != PART_NONE && !notes_know_all();
}

void remote_posted(const struct call *call, int *ranks, int count)
{
	struct part *part = part_of_process();

	count_epoch(part, &exposures[call->window], ranks, count);
	add_begin_of_each(part, EVENT_POST, call->window, &exposures[call->window], call->begun);
}

void remote_started(const struct call *call, int *ranks, int count)
{
	count_epoch(part_of_process(), &accesses[call->window], ranks, count);
}

/* ---- waits ---- */

/* A wait for a post is in an access epoch, one for a complete in an exposure epoch. */
static void number_epochs(const struct part *part, struct part_remote_wait *wait)
{
	const struct side *sides = wait->event == EVENT_POST ? accesses : exposures;

	for (uint32_t i = 0; i < wait->rank_count && wait->window != PART_NONE; i++)
		wait->epochs[i] = epoch_of(part, &sides[wait->window], wait->ranks[i]);
}

void remote_add_wait(struct part *part, const struct part_remote_wait *wait, const struct rank_list *ranks)
{
	struct part_remote_wait *place = &part->remote.waits[part->remote.wait_count % PART_REMOTE_WAITS];

	if (ranks->count > PART_REMOTE_RANKS || ranks->more)
		return;
	*place = *wait;
	place->rank_count = ranks->count;
	memcpy(place->ranks, ranks->ranks, ranks->count * sizeof(place->ranks[0]));
	number_epochs(part, place);
	__atomic_store_n(&part->remote.wait_count, part->remote.wait_count + 1, __ATOMIC_RELEASE);
}
