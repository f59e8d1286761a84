// SPDX-License-Identifier: BSD-2-Clause
/* remote.c - waits that ranks of other machines end, and what these began; see call.h and part.h */
#include <string.h>

#include "see/front/call.h"

void remote_add_begin(struct part *part, enum part_event event, uint32_t window, uint64_t number, uint64_t begun)
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

void remote_add_wait(struct part *part, const struct part_remote_wait *wait, const struct rank_list *ranks)
{
	struct part_remote_wait *place = &part->remote.waits[part->remote.wait_count % PART_REMOTE_WAITS];

	if (ranks->count > PART_REMOTE_RANKS || ranks->more)
		return;
	*place = *wait;
	place->rank_count = ranks->count;
	memcpy(place->ranks, ranks->ranks, ranks->count * sizeof(place->ranks[0]));
	for (uint32_t i = 0; i < ranks->count; i++)
		place->epochs[i] = epochs_awaited(wait->window, wait->event, ranks->ranks[i]);
	__atomic_store_n(&part->remote.wait_count, part->remote.wait_count + 1, __ATOMIC_RELEASE);
}
