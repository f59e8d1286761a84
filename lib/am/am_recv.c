// SPDX-License-Identifier: BSD-2-Clause
/* See am_recv.h. */
#include "am/am_recv.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"
#include "verbs/wire.h"

#define LOOK_RINGS 16 /* a turn */

/* Answers, under am->lock. */

/*
 * An older answer in the place of a newer one would lose a wakeup. A sender with a broken wire is
 * dead and needs no answer, so errors are ignored.
 */
static void tell(struct peer *peer, uint64_t applied, const uint64_t refused[2])
{
	struct am_ack ack = { .applied = applied, .refused = { refused[0], refused[1] }, .rested = peer->am_rested };
	struct remote to = { peer->remote_area.addr + offsetof(struct area, am_ack), peer->remote_area.rkey };
	uint64_t unused;

	ack.check = am_ack_check(&ack);
	/* Pairs with read_ack at the sender. */
	wire_put_behind(&peer->wire, wire_sge(&ack, sizeof(ack), 0), to, false, &unused);
}

/* A peer that is not up is dead, and needs no answer. */
static void tell_applied(struct am_receiver *ring)
{
	ring->acked = ring->taken;
	if (peer_is_up(ring->peer))
		tell(ring->peer, ring->taken, ring->refused);
}

/* Finds the place of a message's result at the sender. Returns whether that many bytes fit. */
static bool result_place(const struct am_receiver *ring, const struct am *am, uint32_t size_bytes, struct remote *to)
{
	const struct segment_ref *there = &ring->peer->area->am_results;
	uint64_t at = (uint64_t)am->data_at, slots = (uint64_t)AM_SLOTS * AM_INLINE_BYTES;

	if (!segment_ready(there))
		return false;
	*to = (struct remote){ there->addr, there->rkey };
	if (am->data_at == AM_INLINE) {
		to->addr += ring->taken % AM_SLOTS * AM_INLINE_BYTES;
		return size_bytes <= AM_INLINE_BYTES;
	}
	to->addr += slots + at;
	return at + size_bytes <= AM_DATA_BYTES;
}

static bool send_result(struct am_receiver *ring, const struct am *am, uint32_t size_bytes)
{
	struct remote to;

	if (!result_place(ring, am, size_bytes, &to))
		return false;
	if (peer_is_up(ring->peer))
		direct_write(&ring->peer->direct, ring->peer->job->am.result, size_bytes, to);
	return true;
}

/* Applying, under am->lock. */

static struct am *next_slot(const struct am_receiver *ring)
{
	return &ring->slots[ring->taken % AM_SLOTS];
}

static bool next_is_there(const struct am_receiver *ring)
{
	uint64_t taken = __atomic_load_n(&ring->taken, __ATOMIC_RELAXED);

	/* Pairs with wire_word in stamp_message at the sender. */
	return flag_load(&ring->slots[taken % AM_SLOTS].stamp) == taken + 1;
}

/* False: the next message has to wait. */
static bool take_message(struct am_receiver *ring)
{
	struct am_service *service = &ring->peer->job->am;
	_Alignas(AM_ALIGN) struct am am = *next_slot(ring); /* a copy, which the sender cannot change after the checks */
	int bytes = service->handler->apply(ring->peer->job, &am, ring->data, service->result);

	if (bytes == AM_LATER)
		return false;
	if (bytes > 0 && !send_result(ring, &am, (uint32_t)bytes))
		bytes = -AM_UNKNOWN;
	am_judge(ring->refused, ring->taken + 1, bytes < 0 ? (enum am_verdict) - bytes : AM_APPLIED);
	__atomic_store_n(&ring->taken, ring->taken + 1, __ATOMIC_RELAXED);
	return true;
}

static bool last_is_large(const struct am_receiver *ring)
{
	const struct am *last = &ring->slots[(ring->taken - 1) % AM_SLOTS];

	return last->data_bytes > AM_LARGEST_BYTES / 2;
}

/* False: a message has to wait. No honest sender is more than a ring ahead. */
static bool take_all(struct am_receiver *ring)
{
	for (uint32_t i = 0; i < AM_SLOTS && next_is_there(ring); i++) {
		if (!take_message(ring))
			return false;
		if (last_is_large(ring))
			tell_applied(ring); /* the sender may wait for room */
	}
	return true;
}

/* Takes and answers a ring's messages. Returns whether there were any, or some are left. */
static bool drain_locked(struct am_receiver *ring, bool *all)
{
	const uint64_t before = ring->taken;

	*all = take_all(ring);
	if (ring->acked != ring->taken)
		tell_applied(ring);
	return before != ring->taken || !*all;
}

bool am_drain_ring(struct am_receiver *ring)
{
	struct am_service *am = &ring->peer->job->am;
	bool all;

	pthread_mutex_lock(&am->lock);
	drain_locked(ring, &all);
	pthread_mutex_unlock(&am->lock);
	return all;
}

bool am_drain_all(struct am_service *am)
{
	bool any = false, all;

	pthread_mutex_lock(&am->lock);
	for (struct am_receiver *ring = am->list; ring; ring = ring->next)
		any |= drain_locked(ring, &all);
	pthread_mutex_unlock(&am->lock);
	return any;
}

/* Skips rings while another thread holds am->lock. */
void am_poll_rings(struct oriel_job *job, struct am_receiver *list)
{
	struct am_service *am = &job->am;
	struct am_receiver *ring = __atomic_load_n(&am->cursor, __ATOMIC_ACQUIRE); /* pairs with am_receiver_open */
	bool all;

	__atomic_store_n(&am->polled, __atomic_load_n(&am->polled, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < LOOK_RINGS; i++) {
		ring = ring && ring->next ? ring->next : list;
		if (next_is_there(ring) && pthread_mutex_trylock(&am->lock) == 0) {
			drain_locked(ring, &all);
			pthread_mutex_unlock(&am->lock);
		}
		if (!ring->next && ring == list)
			return; /* the only ring */
	}
	__atomic_store_n(&am->cursor, ring, __ATOMIC_RELEASE);
}

/* Windows. */

int am_enter_window(struct oriel_job *job, uint32_t slot, void *win)
{
	struct am_service *am = &job->am;
	uint32_t before;
	bool room;

	pthread_mutex_lock(&am->lock);
	before = am->window_capacity;
	room = grow_array(&am->windows, &am->window_capacity, slot + 1, sizeof(*am->windows));
	if (room) {
		memset(am->windows + before, 0, (am->window_capacity - before) * sizeof(*am->windows));
		am->windows[slot] = win;
	}
	pthread_mutex_unlock(&am->lock);
	return room ? 0 : err_set(ORIEL_ERR_MEMORY, "out of memory for window slot %u", slot);
}

void am_leave_window(struct oriel_job *job, uint32_t slot)
{
	pthread_mutex_lock(&job->am.lock);
	if (slot < job->am.window_capacity)
		job->am.windows[slot] = NULL;
	pthread_mutex_unlock(&job->am.lock);
}

/* Service thread. */

bool am_receiver_open(struct peer *peer)
{
	struct am_service *am = &peer->job->am;
	struct am_receiver *ring = calloc(1, sizeof(*ring));
	struct piece piece;

	if (!am->result)
		am->result = calloc(1, AM_LARGEST_BYTES);
	if (!ring || !am->result || slab_alloc(&peer->job->slabs, AM_RING_BYTES, &piece)) {
		free(ring);
		return false;
	}
	ring->peer = peer;
	ring->slots = piece.addr;
	ring->data = (uint8_t *)piece.addr + AM_SLOTS * sizeof(struct am);
	ring->next = am->list;
	peer->am_ring = (struct segment_ref){ (uint64_t)(uintptr_t)piece.addr, piece.keys[peer->device->index].rkey, 0 };
	__atomic_store_n(&peer->am_receiver, ring, __ATOMIC_RELEASE); /* pairs with the loads of threads that drain it */
	__atomic_store_n(&am->list, ring, __ATOMIC_RELEASE);
	return true;
}

void am_receiver_rest(struct peer *peer)
{
	struct am_service *am = &peer->job->am;

	if (peer->am_rested == peer->am_wakes || !peer_is_up(peer))
		return;
	pthread_mutex_lock(&am->lock);
	peer->am_rested = peer->am_wakes;
	if (peer->am_receiver)
		tell_applied(peer->am_receiver);
	else
		tell(peer, 0, (const uint64_t[2]){ 0 });
	pthread_mutex_unlock(&am->lock);
}

void am_open(struct oriel_job *job, const struct am_handler *handler)
{
	pthread_mutex_init(&job->am.lock, NULL);
	job->am.handler = handler;
}

void am_close(struct oriel_job *job)
{
	while (job->am.list) {
		struct am_receiver *ring = job->am.list;

		job->am.list = ring->next;
		free(ring);
	}
	free(job->am.windows);
	free(job->am.result);
	pthread_mutex_destroy(&job->am.lock);
}
