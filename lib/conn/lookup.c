// SPDX-License-Identifier: BSD-2-Clause
/*
 * lookup.c - looking windows up in the directories of peers
 *
 * DESIGN NOTES
 *
 * A reader first tries its own slot number, which is right if all ranks make the same windows.
 * Otherwise it reads the whole directory.
 *
 * A window that is not found, or not found again, does not exist: the member could not make it in
 * time, or has freed it after an error. The waiting call fails; the peer lives.
 *
 * Lookups of one peer run one after the other, since they share the landing zone in the peer's
 * area. If the tables are mapped the processor reads them into it. If they are known, too, the
 * caller reads the entry at its own slot itself, without the service thread.
 */
#include "conn/directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"
#include "job/service_queue.h"

#define SCANS_MAX 16          /* torn readings are rare */
#define STEPS_PER_TICK 256    /* then the loop serves other peers */
#define SPINS_AFTER_READ 2000 /* polls before the service thread returns to its loop */

enum lookup_step { STEP_DIR_ROOT, STEP_ENTRIES, STEP_AREA_HEAD, STEP_DONE };

struct lookup {
	uint8_t id[WINDOW_ID_BYTES];
	struct lookup_customer customer;
	struct lookup *next;
	enum lookup_step step;
	bool again; /* of a window found before */
	bool absent;
	bool scanning; /* of the whole directory */
	bool reading;
	bool landed;     /* read from mapped memory */
	uint32_t slot;   /* first slot of the entries being read */
	uint64_t number; /* of the outstanding RDMA READ */
	uint64_t read_ns;
	uint32_t scans; /* of the whole directory */
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
	__atomic_sub_fetch(lookup->customer.pending, 1, __ATOMIC_RELEASE); /* pairs with the load in free.c */
	free(lookup);
}

/* Copies new segments only: other threads use the known ones. */
static void merge_root(struct peer *peer, struct table_root *known, const struct table_root *read)
{
	pthread_mutex_lock(&peer->lock);
	for (uint32_t i = 0; i < TABLE_SEGMENTS; i++) {
		if (!segment_ready(&known->segment[i]) && segment_ready(&read->segment[i]))
			known->segment[i] = read->segment[i];
	}
	pthread_mutex_unlock(&peer->lock);
}

/* Precedes the description of the peer's first window. */
static void learn_page_locks(struct peer *peer, const struct area_head *head)
{
	if (!peer->remote_page_locks.addr && segment_ready(&head->page_locks))
		peer->remote_page_locks = (struct remote){ head->page_locks.addr, head->page_locks.rkey };
}

static int look_up_own(struct peer *peer, uint32_t slot, const struct lookup_customer *customer)
{
	struct dir_entry entry;

	pthread_mutex_lock(&peer->job->lock);
	merge_root(peer, &peer->remote_flags, &peer->area->head.flags);
	learn_page_locks(peer, &peer->area->head);
	peer->remote_neighbour = peer->neighbour;
	entry = *directory_entry(peer->job, peer->device->index, slot);
	pthread_mutex_unlock(&peer->job->lock);
	customer->done(customer, &entry, slot);
	return 0;
}

static bool dir_segment_known(const struct peer *peer, uint32_t slot)
{
	uint32_t offset;

	return slot < WINDOWS_MAX && segment_ready(&peer->remote_dir_root.segment[table_segment(slot, &offset)]);
}

static struct remote place_of_entry(const struct peer *peer, uint32_t slot)
{
	uint32_t offset;
	const struct segment_ref *ref = &peer->remote_dir_root.segment[table_segment(slot, &offset)];

	return (struct remote){ ref->addr + offset * sizeof(struct dir_entry), ref->rkey };
}

static bool flags_known(const struct peer *peer, uint32_t slot)
{
	uint32_t offset;

	return segment_ready(&peer->remote_flags.segment[table_segment(slot, &offset)]);
}

/* Copies word by word: the peer may be writing. The check words detect a torn reading. */
static bool read_mapped(struct peer *peer, void *to, size_t size_bytes, struct remote from)
{
	const uint64_t *there = direct_words(&peer->direct, from, size_bytes);
	uint64_t *here = to;

	for (size_t i = 0; there && i < size_bytes / sizeof(*here); i++)
		here[i] = flag_load(&there[i]); /* pairs with directory_publish, table_add_segment and show_page_locks */
	return there;
}

/* Finds the peer's entry for that slot, if its tables are known. Any thread. */
static bool find_entry(struct peer *peer, uint32_t slot, struct remote *entry)
{
	bool known;

	pthread_mutex_lock(&peer->lock);
	known = flags_known(peer, slot) && dir_segment_known(peer, slot);
	if (known)
		*entry = place_of_entry(peer, slot);
	pthread_mutex_unlock(&peer->lock);
	return known;
}

static bool look_up_mapped(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                           const struct lookup_customer *customer)
{
	struct remote there;
	struct dir_entry entry;

	if (state_load(&peer->state) != PEER_UP || !find_entry(peer, slot, &there)) /* pairs with peer_set_state */
		return false;
	if (!read_mapped(peer, &entry, sizeof(entry), there) || !dir_entry_matches(&entry, id))
		return false;
	customer->done(customer, &entry, slot);
	return true;
}

static int add_lookup(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                      const struct lookup_customer *customer, bool again)
{
	struct lookup **at = &peer->lookups, *lookup;

	if (peer->rank == peer->job->rank)
		return look_up_own(peer, slot, customer);
	if (!again && look_up_mapped(peer, id, slot, customer))
		return 0;
	lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for a lookup");
	memcpy(lookup->id, id, WINDOW_ID_BYTES);
	lookup->customer = *customer;
	lookup->slot = slot;
	lookup->again = again;
	lookup->step = again ? STEP_ENTRIES : STEP_DIR_ROOT;
	__atomic_add_fetch(customer->pending, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&peer->lock);
	while (*at)
		at = &(*at)->next;
	*at = lookup;
	pthread_mutex_unlock(&peer->lock);
	service_queue_request(peer);
	return 0;
}

int lookup_request(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                   const struct lookup_customer *customer)
{
	return add_lookup(peer, id, slot, customer, false);
}

int lookup_again(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                 const struct lookup_customer *customer)
{
	return add_lookup(peer, id, slot, customer, true);
}

static void start_read(struct peer *peer, struct lookup *lookup, size_t size_bytes, struct remote from)
{
	lookup->landed = read_mapped(peer, &peer->area->landing, size_bytes, from);
	if (lookup->landed) {
		lookup->reading = true;
		return;
	}
	if (wire_get(&peer->wire, wire_sge(&peer->area->landing, size_bytes, peer_area_keys(peer).lkey), from,
	             &lookup->number))
		return; /* the wire is broken: lookups_fail comes next */
	lookup->number = wire_signal(&peer->wire);
	lookup->read_ns = now_ns();
	lookup->reading = true;
}

/* Stays within the segment. */
static uint32_t entries_wanted(const struct lookup *lookup, uint32_t segment, uint32_t offset)
{
	return lookup->scanning ? min_u32(DIR_BATCH, table_segment_elements(segment) - offset) : 1;
}

static void read_entries(struct peer *peer, struct lookup *lookup)
{
	uint32_t offset, segment = table_segment(lookup->slot, &offset);

	if (!dir_segment_known(peer, lookup->slot)) {
		lookup->scans++;
		lookup->step = STEP_DIR_ROOT;
		return;
	}
	start_read(peer, lookup, entries_wanted(lookup, segment, offset) * sizeof(struct dir_entry),
	           place_of_entry(peer, lookup->slot));
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
	case STEP_AREA_HEAD:
		start_read(peer, lookup, sizeof(struct area_head), peer->remote_area);
		break;
	case STEP_DONE:
		break;
	}
}

static void begin_scan(struct lookup *lookup)
{
	lookup->scanning = true;
	lookup->slot = 0;
	lookup->scans++;
}

/* After the last known entry the root is read again and the scan restarts: the entry must exist. */
static void next_entries(struct peer *peer, struct lookup *lookup, uint32_t read)
{
	if (lookup->scanning && dir_segment_known(peer, lookup->slot + read)) {
		lookup->slot += read;
		return;
	}
	begin_scan(lookup);
	lookup->step = STEP_DIR_ROOT;
}

static void end_in_vain(struct lookup *lookup)
{
	lookup->absent = true;
	lookup->step = STEP_DONE;
}

static void end_entries(struct peer *peer, struct lookup *lookup)
{
	uint32_t offset, segment = table_segment(lookup->slot, &offset);
	uint32_t read = entries_wanted(lookup, segment, offset);

	for (uint32_t i = 0; i < read; i++) {
		if (!dir_entry_matches(&peer->area->landing.entries[i], lookup->id))
			continue;
		lookup->found = peer->area->landing.entries[i];
		lookup->slot += i;
		lookup->step = flags_known(peer, lookup->slot) ? STEP_DONE : STEP_AREA_HEAD;
		return;
	}
	if (lookup->again)
		end_in_vain(lookup);
	else
		next_entries(peer, lookup, read);
}

/* Ranks with different memory layouts would write into each other's words. */
static bool same_layout(const struct peer *peer, const struct area_head *head)
{
	const struct area_head *own = &peer->area->head;

	return head->layout_version == own->layout_version && head->control_block_bytes == own->control_block_bytes;
}

static void end_head(struct peer *peer, struct lookup *lookup)
{
	const struct area_head *head = &peer->area->landing.head;
	char text[DEATH_TEXT_BYTES];

	if (same_layout(peer, head)) {
		learn_page_locks(peer, head);
		peer->remote_neighbour = head->neighbour;
		merge_root(peer, &peer->remote_flags, &head->flags); /* last: flags_known implies all of it */
		if (flags_known(peer, lookup->slot))
			lookup->step = STEP_DONE;
		return;
	}
	snprintf(text, sizeof(text),
	         "it was built with another liboriel: memory layout %u with control blocks of %u bytes, here %u and %u",
	         head->layout_version, head->control_block_bytes, LAYOUT_VERSION, peer->area->head.control_block_bytes);
	rank_died(peer->job, peer->rank, text);
}

static void end_step(struct peer *peer, struct lookup *lookup)
{
	lookup->reading = false;
	switch (lookup->step) {
	case STEP_DIR_ROOT:
		merge_root(peer, &peer->remote_dir_root, &peer->area->landing.root);
		if (!lookup->scanning && !dir_segment_known(peer, lookup->slot))
			begin_scan(lookup); /* the peer has never had as many windows as this rank */
		lookup->step = STEP_ENTRIES;
		break;
	case STEP_ENTRIES:
		end_entries(peer, lookup);
		break;
	case STEP_AREA_HEAD:
		end_head(peer, lookup);
		break;
	case STEP_DONE:
		break;
	}
}

/* Polls: a read takes microseconds, a turn of the loop milliseconds. */
static bool read_done(struct peer *peer, const struct lookup *lookup)
{
	for (int i = 0; !lookup->landed && i < SPINS_AFTER_READ; i++) {
		wire_poll(&peer->wire);
		if (wire_done(&peer->wire, lookup->number))
			return true;
		cpu_relax();
	}
	return lookup->landed;
}

/* A lookup has the time limit of connecting; 0: none. */
static void judge_time(struct peer *peer, const struct lookup *lookup)
{
	int limit_ms = peer_connect_limit_ms(peer);
	char text[DEATH_TEXT_BYTES];

	if (limit_ms == 0 || now_ns() - lookup->read_ns <= (uint64_t)limit_ms * NS_PER_MS)
		return;
	snprintf(text, sizeof(text),
	         "it is connected, but has not let its windows be looked up in %d ms (ORIEL_CONNECT_TIMEOUT)", limit_ms);
	rank_died(peer->job, peer->rank, text);
}

/* Returns false if the lookup has to wait. */
static bool lookup_advance(struct peer *peer, struct lookup *lookup)
{
	if (lookup->scans > SCANS_MAX) {
		end_in_vain(lookup);
		return true;
	}
	if (!lookup->reading) {
		start_step(peer, lookup);
		return lookup->reading || lookup->step == STEP_DIR_ROOT;
	}
	if (read_done(peer, lookup)) {
		end_step(peer, lookup);
		return true;
	}
	judge_time(peer, lookup);
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
			lookup->customer.done(&lookup->customer, lookup->absent ? NULL : &lookup->found, lookup->slot);
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
