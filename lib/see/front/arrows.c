// SPDX-License-Identifier: BSD-2-Clause
/*
 * arrows.c - the timeline: calls of other ranks that have ended a call's waits; see call.h
 *
 * A wait's time is divided, and the call that ends it may be found more than once. So the arrows
 * are collected until the call ends. The callers hold the lock of the waits (waits.c).
 */
#include "see/front/call.h"

#define ARROWS_MAX 64

static struct part_entry arrows[ARROWS_MAX];
static int arrow_count;

/* Several ranks post, or complete, for one wait. In other calls the last is meant. */
static bool is_same(const struct part_entry *arrow, enum part_event event, int rank)
{
	return arrow->kind == event && ((event != EVENT_POST && event != EVENT_COMPLETE) || arrow->rank == rank);
}

void arrows_add(enum part_event event, int rank, uint64_t begun_ns, uint64_t seen_ns)
{
	int i = 0;

	while (i < arrow_count && !is_same(&arrows[i], event, rank))
		i++;
	if (!trace_is_on() || i == ARROWS_MAX)
		return;
	arrows[i] = (struct part_entry){ .begun = begun_ns, .ended = seen_ns, .rank = rank, .kind = (uint16_t)event };
	if (i == arrow_count)
		arrow_count++;
}

void arrows_take(uint32_t site, uint32_t lane)
{
	for (int i = 0; i < arrow_count; i++) {
		arrows[i].site = (uint16_t)site;
		trace_add(lane, arrows[i]);
	}
	arrow_count = 0;
}
