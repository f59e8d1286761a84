// SPDX-License-Identifier: BSD-2-Clause
/* See lock_table.h. */
#include "job/lock_table.h"

#include <stdbool.h>
#include <string.h>

#include "base/order.h"
#include "base/util.h"
#include "job/job.h"

struct lock_words *lock_table_words(struct oriel_job *job, uint32_t slot)
{
	uint8_t *control = job->directory.controls[slot].addr;

	return (struct lock_words *)(void *)(control + control_lock_offset(log2_up((uint64_t)job->size)));
}

static struct lock_segment *next_segment(const struct lock_more *more)
{
	return more->check ? (struct lock_segment *)(uintptr_t)more->addr : NULL;
}

struct lock_member *lock_table_member(struct lock_words *words, uint32_t neighbour)
{
	struct lock_segment *segment = next_segment(&words->header.more);

	if (neighbour < LOCK_FIRST_MEMBERS)
		return &words->member[neighbour];
	neighbour -= LOCK_FIRST_MEMBERS;
	for (uint32_t i = 1; segment; i++) {
		if (neighbour < lock_segment_members(i))
			return &segment->member[neighbour];
		neighbour -= lock_segment_members(i);
		segment = next_segment(&segment->more);
	}
	return NULL;
}

/* Adds a segment behind `more`; readers find it once the check matches. */
static int add_segment(struct oriel_job *job, struct lock_more *more, uint32_t number)
{
	struct lock_more made = { 0 };
	struct piece piece;
	int rc = slab_alloc(&job->slabs, lock_segment_bytes(number), &piece);

	if (rc)
		return rc;
	made.addr = (uint64_t)(uintptr_t)piece.addr;
	for (uint32_t i = 0; i < job->devices.count; i++)
		made.rkey[i] = piece.keys[i].rkey;
	more->addr = made.addr;
	memcpy(more->rkey, made.rkey, sizeof(more->rkey));
	full_fence(); /* pairs with the check that readers recompute */
	more->check = lock_more_check(&made);
	full_fence(); /* before the neighbour learns its place (lock_words.c) */
	return 0;
}

int lock_table_cover(struct oriel_job *job, uint32_t slot, uint32_t neighbours)
{
	struct lock_more *more = &lock_table_words(job, slot)->header.more;
	uint32_t places = LOCK_FIRST_MEMBERS;

	for (uint32_t i = 1; places < neighbours; i++) {
		int rc = more->check ? 0 : add_segment(job, more, i);

		if (rc)
			return rc;
		places += lock_segment_members(i);
		more = &next_segment(more)->more;
	}
	return 0;
}

int lock_tables_cover(struct oriel_job *job, uint32_t neighbours)
{
	int rc = 0;

	for (uint32_t slot = 0; rc == 0 && slot < job->directory.slot_count; slot++)
		rc = lock_table_cover(job, slot, neighbours);
	return rc;
}

void lock_table_reset(struct oriel_job *job, uint32_t slot)
{
	struct lock_words *words = lock_table_words(job, slot);
	const struct lock_more more = words->header.more;
	struct lock_segment *segment = next_segment(&more);

	memset(words, 0, sizeof(*words));
	words->header = (struct lock_header){
		.serving = LOCK_FIRST_TICKET,
		.serving_complement = ~(uint64_t)LOCK_FIRST_TICKET,
		.next = LOCK_FIRST_TICKET,
		.more = more,
	};
	for (uint32_t i = 1; segment; i++) {
		memset(segment->member, 0, lock_segment_members(i) * sizeof(struct lock_member));
		segment = next_segment(&segment->more);
	}
}
