// SPDX-License-Identifier: BSD-2-Clause
/*
 * directory.c - this rank's table of windows, which peers read
 *
 * DESIGN NOTES
 *
 * A window's id is a hash of its group's member list and of how many windows were made on that list
 * before. Every member computes it without a message, and it is never reused, so an entry can be
 * published before the creation barrier ends. The slot may differ from member to member.
 *
 * Peers may read a slot while its entry is written, but they look for that window only between its
 * creation and free barriers, when the entry does not change. The check word detects torn readings;
 * a copy that does not match means "not this slot".
 */
#include "conn/directory.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "verbs/slab.h"

uint64_t dir_entry_check(const struct dir_entry *entry)
{
	const uint64_t *word = (const uint64_t *)(const void *)entry;
	uint64_t hash = 0x9e3779b97f4a7c15;

	for (size_t i = 0; i < offsetof(struct dir_entry, check) / sizeof(*word); i++) {
		hash = (hash ^ word[i]) * 0xff51afd7ed558ccd;
		hash ^= hash >> 32;
	}
	return hash | 1;
}

bool dir_entry_matches(const struct dir_entry *entry, const uint8_t id[WINDOW_ID_BYTES])
{
	return entry->check == dir_entry_check(entry) && memcmp(entry->id, id, WINDOW_ID_BYTES) == 0 &&
	       entry->disp_unit_bytes > 0;
}

/* This rank's own table. */

int directory_open(struct oriel_job *job)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < job->devices.count; i++) {
		struct directory_table *table = &job->directory.tables[i];

		rc = slab_alloc(&job->slabs, sizeof(struct table_root), &table->piece);
		if (rc == 0)
			table->root = table->piece.addr;
	}
	return rc;
}

void directory_close(struct oriel_job *job)
{
	free(job->directory.used);
	free(job->directory.controls);
}

/* Under job->lock, as the next functions. */
static int add_control(struct oriel_job *job, uint32_t slot)
{
	size_t bytes = control_bytes(log2_up((uint64_t)job->size));

	if (!grow_array(&job->directory.controls, &job->directory.control_capacity, slot + 1,
	                sizeof(*job->directory.controls)))
		return err_set(ORIEL_ERR_MEMORY, "out of memory for window slot %u", slot);
	memset(&job->directory.controls[slot], 0, sizeof(job->directory.controls[slot]));
	return slab_alloc(&job->slabs, bytes, &job->directory.controls[slot]);
}

static int add_entries(struct oriel_job *job, uint32_t slot)
{
	uint32_t offset, segment = table_segment(slot, &offset);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < job->devices.count; i++) {
		struct directory_table *table = &job->directory.tables[i];

		rc = table_add_segment(&job->slabs, i, &table->root->segment[segment],
		                       table_segment_elements(segment) * sizeof(struct dir_entry), &table->segments[segment]);
	}
	return rc;
}

static int add_slot(struct oriel_job *job)
{
	uint32_t slot = job->directory.slot_count;
	int rc;

	if (slot == WINDOWS_MAX)
		return err_set(ORIEL_ERR_LIMIT, "more than %d windows at once", WINDOWS_MAX);
	if (!grow_array(&job->directory.used, &job->directory.slot_capacity, slot + 1, sizeof(*job->directory.used)))
		return err_set(ORIEL_ERR_MEMORY, "out of memory for window slot %u", slot);
	rc = add_entries(job, slot);
	if (rc == 0)
		rc = add_control(job, slot);
	if (rc == 0)
		rc = peers_cover_slot(job, slot);
	if (rc == 0)
		rc = lock_table_cover(job, slot, job->peers.count);
	if (rc == 0)
		job->directory.used[job->directory.slot_count++] = false;
	return rc;
}

static uint32_t free_slot(const struct oriel_job *job)
{
	uint32_t slot = 0;

	while (slot < job->directory.slot_count && job->directory.used[slot])
		slot++;
	return slot;
}

/*
 * Clears the flag words that the slot's previous window has left. After its free barrier no rank
 * writes them.
 */
static void clear_flags(struct oriel_job *job, uint32_t slot)
{
	size_t fence_bytes = control_lock_offset(log2_up((uint64_t)job->size));

	for (uint32_t i = 0; i < job->peers.capacity; i++) {
		if (job->peers.table[i])
			memset(peer_flags(job->peers.table[i], slot), 0, sizeof(struct flag_pair));
	}
	memset(job->directory.controls[slot].addr, 0, fence_bytes);
	lock_table_reset(job, slot);
}

int directory_take(struct oriel_job *job, uint32_t *slot, struct piece *control)
{
	int rc = 0;

	pthread_mutex_lock(&job->lock);
	*slot = free_slot(job);
	if (*slot == job->directory.slot_count)
		rc = add_slot(job);
	if (rc == 0) {
		clear_flags(job, *slot);
		*control = job->directory.controls[*slot];
		job->directory.used[*slot] = true;
	}
	pthread_mutex_unlock(&job->lock);
	return rc;
}

struct dir_entry *directory_entry(struct oriel_job *job, uint32_t device, uint32_t slot)
{
	uint32_t offset, segment = table_segment(slot, &offset);

	return (struct dir_entry *)job->directory.tables[device].segments[segment] + offset;
}

void directory_publish(struct oriel_job *job, uint32_t device, uint32_t slot, const struct dir_entry *entry)
{
	struct dir_entry *own = directory_entry(job, device, slot);

	own->check = 0; /* readers of a half-written entry find no match */
	full_fence();
	memcpy(own, entry, offsetof(struct dir_entry, check));
	full_fence();
	own->check = entry->check;
}

void directory_hide(struct oriel_job *job, uint32_t slot)
{
	static const struct dir_entry nothing;

	for (uint32_t i = 0; i < job->devices.count; i++)
		directory_publish(job, i, slot, &nothing);
}

void directory_give(struct oriel_job *job, uint32_t slot)
{
	pthread_mutex_lock(&job->lock);
	job->directory.used[slot] = false;
	pthread_mutex_unlock(&job->lock);
}
