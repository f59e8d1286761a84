// SPDX-License-Identifier: BSD-2-Clause
/*
 * epochs.c - numbers of epochs, which origin and target count for each other; see call.h
 *
 * The n-th start that names a target, its complete, and the n-th post and wait of the target that
 * name the origin belong together.
 */
#include <stdlib.h>

#include "see/front/call.h"

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

static uint32_t epoch_of(const struct part *part, const struct side *side, int rank)
{
	return side->counts && !side->is_lost && is_in_job(part, rank) ? side->counts[rank] : 0;
}

/* Notes the begin of a call for each rank of the latest group. */
static void add_notes(struct part *part, enum part_event event, const struct call *call, const struct side *side)
{
	uint32_t window = call_window(call);

	for (int i = 0; i < side->rank_count; i++) {
		int rank = side->ranks[i];

		if (is_in_job(part, rank))
			notes_add_epoch(part, event, window, rank, epoch_of(part, side, rank), call->begun);
	}
}

bool epochs_are_counted(const struct call *call)
{
	return part_of_process() && call_window(call) != PART_NONE;
}

void epochs_post(const struct call *call, int *ranks, int count)
{
	struct part *part = part_of_process();
	struct side *side = &exposures[call_window(call)];

	count_epoch(part, side, ranks, count);
	add_notes(part, EVENT_POST, call, side);
}

void epochs_cancel_post(const struct call *call)
{
	const struct part *part = part_of_process();
	uint32_t window = call_window(call);
	struct side *side;

	if (!part || window == PART_NONE)
		return;
	side = &exposures[window];
	for (int i = 0; i < side->rank_count; i++) {
		if (is_in_job(part, side->ranks[i]))
			side->counts[side->ranks[i]]--;
	}
	side->rank_count = 0;
}

void epochs_started(const struct call *call, int *ranks, int count)
{
	count_epoch(part_of_process(), &accesses[call_window(call)], ranks, count);
}

void epochs_complete(const struct call *call)
{
	struct part *part = part_of_process();
	uint32_t window = call_window(call);

	if (part && window != PART_NONE)
		add_notes(part, EVENT_COMPLETE, call, &accesses[window]);
}

uint32_t epochs_awaited(uint32_t window, enum part_event event, int rank)
{
	const struct side *sides = event == EVENT_POST ? accesses : exposures;
	const struct part *part = part_of_process();

	return part && window != PART_NONE ? epoch_of(part, &sides[window], rank) : 0;
}
