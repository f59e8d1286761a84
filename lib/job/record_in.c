// SPDX-License-Identifier: BSD-2-Clause
/* record_in.c - see record_in.h. */
#include "job/record_in.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"
#include "verbs/wire.h"

#define LOOK_RINGS 16 /* that a turn of a wait looks at */

/* Results and answers. The caller holds records->lock. */

/*
 * Behind all results, and behind the answer before: of two that are placed in the wrong order the older
 * one would stay, and with it a wakeup that nobody hears to be answered. A sender whose wire is broken
 * is dead and needs no answer; so errors do not matter here.
 */
static void tell(struct peer *peer, uint64_t applied, const uint64_t refused[2])
{
	struct record_ack ack = { .applied = applied,
		                      .refused = { refused[0], refused[1] },
		                      .rested = peer->record_rested };
	struct remote to = { peer->remote_area.addr + offsetof(struct area, record_ack), peer->remote_area.rkey };
	uint64_t unused;

	ack.check = record_ack_check(&ack);
	wire_put_behind(&peer->wire, &ack, sizeof(ack), to, false, &unused); /* pairs with read_ack at the sender */
}

/* A peer that has a ring and is not up is dead: there is nobody to be told, and nothing left to be done. */
static void tell_applied(struct record_in *ring)
{
	ring->told = ring->taken;
	if (peer_is_up(ring->peer))
		tell(ring->peer, ring->taken, ring->refused);
}

/* Where the sender wants the result of a record, and whether so many bytes have room there. */
static bool result_place(const struct record_in *ring, const struct record *record, uint32_t size_bytes,
                         struct remote *to)
{
	const struct segment_ref *there = &ring->peer->area->record_results;
	uint64_t at = (uint64_t)record->data_at, slots = (uint64_t)RECORD_SLOTS * RECORD_INLINE_BYTES;

	if (!segment_ready(there))
		return false;
	*to = (struct remote){ there->addr, there->rkey };
	if (record->data_at == RECORD_INLINE) {
		to->addr += ring->taken % RECORD_SLOTS * RECORD_INLINE_BYTES;
		return size_bytes <= RECORD_INLINE_BYTES;
	}
	to->addr += slots + at;
	return at + size_bytes <= RECORD_DATA_BYTES;
}

static bool send_result(struct record_in *ring, const struct record *record, uint32_t size_bytes)
{
	struct remote to;

	if (!result_place(ring, record, size_bytes, &to))
		return false;
	if (peer_is_up(ring->peer))
		wire_write(&ring->peer->wire, ring->peer->job->records.result, size_bytes, to);
	return true;
}

/* Applying. The caller holds records->lock. */

static struct record *next_slot(const struct record_in *ring)
{
	return &ring->slots[ring->taken % RECORD_SLOTS];
}

/* Whether the ring's next record is there, whole. */
static bool next_record(const struct record_in *ring)
{
	uint64_t taken = __atomic_load_n(&ring->taken, __ATOMIC_RELAXED);

	/* Pairs with wire_word in post_record at the sender. */
	return flag_load(&ring->slots[taken % RECORD_SLOTS].stamp) == taken + 1;
}

/* False: not now. */
static bool take_record(struct record_in *ring)
{
	struct records *records = &ring->peer->job->records;
	_Alignas(RECORD_ALIGN) struct record record = *next_slot(ring); /* a copy: what is checked does not change */
	int bytes = records->applier->apply(ring->peer->job, &record, ring->data, records->result);

	if (bytes == RECORD_LATER)
		return false;
	if (bytes > 0 && !send_result(ring, &record, (uint32_t)bytes))
		bytes = -RECORD_UNKNOWN;
	record_judge(ring->refused, ring->taken + 1, bytes < 0 ? (enum record_verdict) - bytes : RECORD_APPLIED);
	__atomic_store_n(&ring->taken, ring->taken + 1, __ATOMIC_RELAXED);
	return true;
}

/* What is there; false: one of them has to wait. No honest sender is more than a ring ahead. */
static bool take_all(struct record_in *ring)
{
	for (uint32_t i = 0; i < RECORD_SLOTS && next_record(ring); i++) {
		if (!take_record(ring))
			return false;
	}
	return true;
}

/* Whether there was anything, or is still. */
static bool drain_locked(struct record_in *ring, bool *all)
{
	*all = take_all(ring);
	if (ring->told == ring->taken)
		return !*all;
	tell_applied(ring);
	return true;
}

bool records_drain_ring(struct record_in *ring)
{
	struct records *records = &ring->peer->job->records;
	bool all;

	pthread_mutex_lock(&records->lock);
	drain_locked(ring, &all);
	pthread_mutex_unlock(&records->lock);
	return all;
}

bool records_drain_all(struct records *records)
{
	bool any = false, all;

	pthread_mutex_lock(&records->lock);
	for (struct record_in *ring = records->list; ring; ring = ring->next)
		any |= drain_locked(ring, &all);
	pthread_mutex_unlock(&records->lock);
	return any;
}

/* Some rings a turn; if somebody else is at them, he does it. */
void records_look(struct oriel_job *job, struct record_in *list)
{
	struct records *records = &job->records;
	struct record_in *ring = __atomic_load_n(&records->cursor, __ATOMIC_ACQUIRE); /* pairs with record_in_open */
	bool all;

	__atomic_store_n(&records->polled, __atomic_load_n(&records->polled, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < LOOK_RINGS; i++) {
		ring = ring && ring->next ? ring->next : list;
		if (next_record(ring) && pthread_mutex_trylock(&records->lock) == 0) {
			drain_locked(ring, &all);
			pthread_mutex_unlock(&records->lock);
		}
		if (!ring->next && ring == list)
			return; /* the only one */
	}
	__atomic_store_n(&records->cursor, ring, __ATOMIC_RELEASE);
}

/* Windows. */

int records_enter_window(struct oriel_job *job, uint32_t slot, void *win)
{
	struct records *records = &job->records;
	uint32_t before;
	bool room;

	pthread_mutex_lock(&records->lock);
	before = records->window_capacity;
	room = grow_array(&records->windows, &records->window_capacity, slot + 1, sizeof(*records->windows));
	if (room) {
		memset(records->windows + before, 0, (records->window_capacity - before) * sizeof(*records->windows));
		records->windows[slot] = win;
	}
	pthread_mutex_unlock(&records->lock);
	return room ? 0 : err_set(ORIEL_ERR_MEMORY, "out of memory for window slot %u", slot);
}

void records_leave_window(struct oriel_job *job, uint32_t slot)
{
	pthread_mutex_lock(&job->records.lock);
	if (slot < job->records.window_capacity)
		job->records.windows[slot] = NULL;
	pthread_mutex_unlock(&job->records.lock);
}

/* For the service thread. */

bool record_in_open(struct peer *peer)
{
	struct records *records = &peer->job->records;
	struct record_in *ring = calloc(1, sizeof(*ring));
	struct piece piece;

	if (!records->result)
		records->result = calloc(1, RECORD_LARGEST_BYTES);
	if (!ring || !records->result || slab_alloc(&peer->job->slabs, RECORD_RING_BYTES, &piece)) {
		free(ring);
		return false;
	}
	ring->peer = peer;
	ring->slots = piece.addr;
	ring->data = (uint8_t *)piece.addr + RECORD_SLOTS * sizeof(struct record);
	ring->next = records->list;
	peer->record_ring =
		(struct segment_ref){ (uint64_t)(uintptr_t)piece.addr, piece.keys[peer->device->index].rkey, 0 };
	__atomic_store_n(&peer->record_in, ring, __ATOMIC_RELEASE); /* pairs with the loads of those who drain it */
	__atomic_store_n(&records->list, ring, __ATOMIC_RELEASE);
	return true;
}

void record_in_rest(struct peer *peer)
{
	struct records *records = &peer->job->records;

	if (peer->record_rested == peer->record_wakes || !peer_is_up(peer))
		return;
	pthread_mutex_lock(&records->lock);
	peer->record_rested = peer->record_wakes;
	if (peer->record_in)
		tell_applied(peer->record_in);
	else
		tell(peer, 0, (const uint64_t[2]){ 0 });
	pthread_mutex_unlock(&records->lock);
}

void records_open(struct oriel_job *job, const struct record_applier *applier)
{
	pthread_mutex_init(&job->records.lock, NULL);
	job->records.applier = applier;
}

void records_close(struct oriel_job *job)
{
	while (job->records.list) {
		struct record_in *ring = job->records.list;

		job->records.list = ring->next;
		free(ring);
	}
	free(job->records.windows);
	free(job->records.result);
	pthread_mutex_destroy(&job->records.lock);
}
