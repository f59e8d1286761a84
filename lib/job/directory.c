// SPDX-License-Identifier: BSD-2-Clause
/*
 * directory.c - our table of windows, and looking windows up in the tables of peers
 *
 * DESIGN NOTES
 *
 * A window is identified by a hash of its group's member list and of how many windows were made on
 * that list before: every member computes the same 16 bytes without a message, they are never
 * reused, and an entry can be published before the creation barrier ends. The slot may differ from
 * member to member. A reader first tries its own slot number, which is right in programs whose
 * ranks make the same windows, and otherwise reads the whole directory, 16 entries at a time.
 *
 * An entry is written while peers may be reading that slot, for the window that had it before. Its
 * check word tells whole readings from torn ones; a window's own entry does not change from the
 * creation barrier to the free barrier, between which alone its members look for it. So a reading
 * that does not match only means "not this slot".
 *
 * Lookups of one peer go one after the other: they share the landing zone in the peer's area.
 */
#include "job/directory.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "epoch/fence.h"
#include "job/job.h"
#include "win/link.h"
#include "base/order.h"
#include "job/agenda.h"
#include "verbs/table.h"
#include "base/util.h"
#include "win/win.h"

#define READ_LIMIT_NS (4500 * NS_PER_MS)
#define SCANS_MAX 16          /* a torn reading is rare, two in the same place rarer */
#define STEPS_PER_TICK 256    /* then others have their turn */
#define SPINS_AFTER_READ 2000 /* polls before the service thread goes back to its loop */

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

/* Our own table. */

int directory_open(struct oriel_job *job)
{
	int rc = slab_alloc(&job->slabs, sizeof(struct table_root), &job->directory.piece);

	if (rc == 0)
		job->directory.root = job->directory.piece.addr;
	return rc;
}

void directory_close(struct oriel_job *job)
{
	free(job->directory.used);
	free(job->directory.fence_words);
}

/* The caller holds job->lock, as for the next ones. */
static int add_fence_words(struct oriel_job *job, uint32_t slot)
{
	size_t bytes = 2 * (size_t)fence_rounds(job->size) * sizeof(uint64_t);

	if (!grow_array(&job->directory.fence_words, &job->directory.fence_capacity, slot + 1,
	                sizeof(*job->directory.fence_words)))
		return err_set(ORIEL_ERR_MEMORY, "out of memory for window slot %u", slot);
	memset(&job->directory.fence_words[slot], 0, sizeof(job->directory.fence_words[slot]));
	return bytes ? slab_alloc(&job->slabs, bytes, &job->directory.fence_words[slot]) : 0;
}

/* One more slot than ever before, ready in every respect. */
static int add_slot(struct oriel_job *job)
{
	uint32_t offset, segment, slot = job->directory.slot_count;
	int rc;

	if (slot == WINDOWS_MAX)
		return err_set(ORIEL_ERR_LIMIT, "more than %d windows at once", WINDOWS_MAX);
	if (!grow_array(&job->directory.used, &job->directory.slot_capacity, slot + 1, sizeof(*job->directory.used)))
		return err_set(ORIEL_ERR_MEMORY, "out of memory for window slot %u", slot);
	segment = table_segment(slot, &offset);
	rc = table_add_segment(&job->slabs, job->directory.root, segment, sizeof(struct dir_entry),
	                       &job->directory.segments[segment]);
	if (rc == 0)
		rc = add_fence_words(job, slot);
	if (rc == 0)
		rc = peers_cover_slot(job, slot);
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
 * What the slot's window before has left in the flag words. Its free barrier is over: nobody writes
 * them now.
 */
static void clear_flags(struct oriel_job *job, uint32_t slot)
{
	size_t fence_bytes = 2 * (size_t)fence_rounds(job->size) * sizeof(uint64_t);

	for (uint32_t i = 0; i < job->peers.capacity; i++) {
		if (job->peers.table[i])
			memset(peer_flags(job->peers.table[i], slot), 0, sizeof(struct flag_pair));
	}
	if (fence_bytes)
		memset(job->directory.fence_words[slot].addr, 0, fence_bytes);
}

int directory_take(struct oriel_job *job, uint32_t *slot, struct piece *fence_words)
{
	int rc = 0;

	pthread_mutex_lock(&job->lock);
	*slot = free_slot(job);
	if (*slot == job->directory.slot_count)
		rc = add_slot(job);
	if (rc == 0) {
		clear_flags(job, *slot);
		*fence_words = job->directory.fence_words[*slot];
		job->directory.used[*slot] = true;
	}
	pthread_mutex_unlock(&job->lock);
	return rc;
}

static struct dir_entry *own_entry(struct oriel_job *job, uint32_t slot)
{
	uint32_t offset, segment = table_segment(slot, &offset);

	return (struct dir_entry *)job->directory.segments[segment] + offset;
}

void directory_publish(struct oriel_job *job, uint32_t slot, const struct dir_entry *entry)
{
	struct dir_entry *own = own_entry(job, slot);

	own->check = 0; /* readers of a half-written entry find that it does not match */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(own, entry, offsetof(struct dir_entry, check));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	own->check = entry->check;
}

void directory_give(struct oriel_job *job, uint32_t slot)
{
	pthread_mutex_lock(&job->lock);
	job->directory.used[slot] = false;
	pthread_mutex_unlock(&job->lock);
}

/* Looking up. */

enum lookup_step { STEP_DIR_ROOT, STEP_ENTRIES, STEP_FLAGS_ROOT, STEP_DONE };

struct lookup {
	struct oriel_win *win;
	struct link *link;
	struct lookup *next;
	enum lookup_step step;
	bool scanning; /* the own slot number was not right */
	bool reading;
	uint32_t slot;    /* first slot of the entries being read */
	uint64_t number;  /* of the RDMA READ under way */
	uint64_t read_ns; /* when it began */
	uint32_t scans;   /* searches through the whole directory */
	struct dir_entry found;
};

static void lookup_finish(struct peer *peer, struct lookup *lookup)
{
	struct lookup **at = &peer->lookups;

	pthread_mutex_lock(&peer->lock);
	while (*at != lookup)
		at = &(*at)->next;
	*at = lookup->next;
	pthread_mutex_unlock(&peer->lock);
	__atomic_sub_fetch(&lookup->win->lookups, 1, __ATOMIC_RELEASE); /* pairs with the load in win_drain */
	free(lookup);
}

int lookup_request(struct link *link, struct oriel_win *win)
{
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	struct peer *peer = link->peer;
	struct lookup **at = &peer->lookups;

	if (!lookup)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for a lookup");
	lookup->win = win;
	lookup->link = link;
	lookup->slot = win->slot;
	__atomic_add_fetch(&win->lookups, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&peer->lock);
	while (*at)
		at = &(*at)->next;
	*at = lookup;
	pthread_mutex_unlock(&peer->lock);
	agenda_request(peer);
	return 0;
}

static void start_read(struct peer *peer, struct lookup *lookup, size_t size_bytes, struct remote from)
{
	if (wire_get(&peer->wire, &peer->area->landing, peer->area_piece.lkey, size_bytes, from, &lookup->number))
		return; /* the wire is broken: the peer is dead, lookups_fail comes next */
	lookup->number = wire_signal(&peer->wire);
	lookup->read_ns = now_ns();
	lookup->reading = true;
}

/* Entries to read at once, from lookup->slot on within its segment. */
static uint32_t entries_wanted(const struct lookup *lookup, uint32_t segment, uint32_t offset)
{
	return lookup->scanning ? min_u32(DIR_BATCH, table_segment_elements(segment) - offset) : 1;
}

static void read_entries(struct peer *peer, struct lookup *lookup)
{
	uint32_t offset, segment = table_segment(lookup->slot, &offset);
	const struct segment_ref *ref = &peer->remote_dir_root.segment[segment];

	if (!segment_ready(ref)) {
		lookup->step = STEP_DIR_ROOT;
		return;
	}
	start_read(peer, lookup, entries_wanted(lookup, segment, offset) * sizeof(struct dir_entry),
	           (struct remote){ ref->addr + offset * sizeof(struct dir_entry), ref->rkey });
}

static void start_step(struct peer *peer, struct lookup *lookup)
{
	switch (lookup->step) {
	case STEP_DIR_ROOT:
		start_read(peer, lookup, sizeof(struct table_root), peer->remote_directory);
		break;
	case STEP_ENTRIES:
		read_entries(peer, lookup);
		break;
	case STEP_FLAGS_ROOT:
		start_read(peer, lookup, sizeof(struct table_root), peer->remote_area);
		break;
	case STEP_DONE:
		break;
	}
}

static bool dir_segment_known(const struct peer *peer, uint32_t slot)
{
	uint32_t offset;

	return slot < WINDOWS_MAX && segment_ready(&peer->remote_dir_root.segment[table_segment(slot, &offset)]);
}

static void begin_scan(struct lookup *lookup)
{
	lookup->scanning = true;
	lookup->slot = 0;
	lookup->scans++;
}

/* Behind the last known entry the root is read anew and the scan begins again: the entry must be there. */
static void next_entries(struct peer *peer, struct lookup *lookup, uint32_t read)
{
	if (lookup->scanning && dir_segment_known(peer, lookup->slot + read)) {
		lookup->slot += read;
		return;
	}
	begin_scan(lookup);
	lookup->step = STEP_DIR_ROOT;
}

static bool flags_known(const struct peer *peer, uint32_t slot)
{
	uint32_t offset;

	return segment_ready(&peer->remote_flags.segment[table_segment(slot, &offset)]);
}

static void end_entries(struct peer *peer, struct lookup *lookup)
{
	uint32_t offset, segment = table_segment(lookup->slot, &offset);
	uint32_t read = entries_wanted(lookup, segment, offset);

	for (uint32_t i = 0; i < read; i++) {
		if (!dir_entry_matches(&peer->area->landing.entries[i], lookup->win->id))
			continue;
		lookup->found = peer->area->landing.entries[i];
		lookup->slot += i;
		lookup->step = flags_known(peer, lookup->slot) ? STEP_DONE : STEP_FLAGS_ROOT;
		return;
	}
	next_entries(peer, lookup, read);
}

/* Take over what is new only: other threads use the segments known before. */
static void merge_root(struct table_root *known, const struct table_root *read)
{
	for (uint32_t i = 0; i < TABLE_SEGMENTS; i++) {
		if (!segment_ready(&known->segment[i]) && segment_ready(&read->segment[i]))
			known->segment[i] = read->segment[i];
	}
}

static void end_step(struct peer *peer, struct lookup *lookup)
{
	lookup->reading = false;
	switch (lookup->step) {
	case STEP_DIR_ROOT:
		merge_root(&peer->remote_dir_root, &peer->area->landing.root);
		if (!lookup->scanning && !dir_segment_known(peer, lookup->slot))
			begin_scan(lookup); /* the peer has never had so many windows as we */
		lookup->step = STEP_ENTRIES;
		break;
	case STEP_ENTRIES:
		end_entries(peer, lookup);
		break;
	case STEP_FLAGS_ROOT:
		merge_root(&peer->remote_flags, &peer->area->landing.root);
		if (flags_known(peer, lookup->slot))
			lookup->step = STEP_DONE;
		break;
	case STEP_DONE:
		break;
	}
}

/* Everything is known: publish it to the window, and send the post that was queued meanwhile (P6, P11). */
static void describe(struct peer *peer, struct lookup *lookup)
{
	struct link *link = lookup->link;
	bool post;

	link->base = lookup->found.base;
	link->size_bytes = lookup->found.size_bytes;
	link->disp_unit_bytes = lookup->found.disp_unit_bytes;
	link->rkey = lookup->found.rkey;
	link->read_only = lookup->found.flags & DIR_READ_ONLY;
	link->slot = lookup->slot;
	fence_learn(lookup->win, link, (struct remote){ lookup->found.fence_addr, lookup->found.fence_rkey });
	pthread_mutex_lock(&peer->lock);
	link_ready(link);
	post = link->post_queued;
	link->post_queued = false;
	pthread_mutex_unlock(&peer->lock);
	if (post)
		link_send_posted(link);
}

/* Poll for a while: a read takes microseconds, a turn of the loop milliseconds. */
static bool read_done(struct peer *peer, const struct lookup *lookup)
{
	for (int i = 0; i < SPINS_AFTER_READ; i++) {
		wire_poll(&peer->wire);
		if (wire_done(&peer->wire, lookup->number))
			return true;
		cpu_relax();
	}
	return false;
}

/* Whether the lookup came further; false when it has to wait. */
static bool lookup_advance(struct peer *peer, struct lookup *lookup)
{
	if (lookup->scans > SCANS_MAX) {
		rank_died(peer->job, peer->rank, "its window directory does not show a window that it has made");
		return false;
	}
	if (!lookup->reading) {
		start_step(peer, lookup);
		return lookup->reading || lookup->step == STEP_DIR_ROOT;
	}
	if (read_done(peer, lookup)) {
		end_step(peer, lookup);
		return true;
	}
	if (now_ns() - lookup->read_ns > READ_LIMIT_NS)
		rank_died(peer->job, peer->rank, "its window directory cannot be read");
	return false;
}

static struct lookup *first_lookup(struct peer *peer)
{
	struct lookup *first;

	pthread_mutex_lock(&peer->lock);
	first = peer->lookups;
	pthread_mutex_unlock(&peer->lock);
	return first;
}

bool lookups_tick(struct peer *peer)
{
	struct lookup *lookup = first_lookup(peer);

	if (state_load(&peer->state) != PEER_UP)
		return lookup;
	for (int i = 0; i < STEPS_PER_TICK && lookup && lookup_advance(peer, lookup); i++) {
		if (lookup->step == STEP_DONE) {
			describe(peer, lookup);
			lookup_finish(peer, lookup);
		}
		lookup = first_lookup(peer);
	}
	return lookup;
}

void lookups_fail(struct peer *peer)
{
	for (struct lookup *lookup = first_lookup(peer); lookup; lookup = first_lookup(peer))
		lookup_finish(peer, lookup);
}
