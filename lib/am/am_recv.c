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
#include "verbs/wakeup.h"
#include "verbs/wire.h"

#define LOOK_RINGS 16 /* a turn */

/* Answers, under am->lock. */

/* Pairs with read_ack at the sender. */
static void store_ack(struct am_ack *there, const struct am_ack *ack)
{
	flag_store(&there->applied, ack->applied);
	flag_store(&there->refused[0], ack->refused[0]);
	flag_store(&there->refused[1], ack->refused[1]);
	flag_store(&there->rested, ack->rested);
	flag_store(&there->result[0], ack->result[0]);
	flag_store(&there->result[1], ack->result[1]);
	flag_store(&there->check, ack->check);
}

/*
 * An older answer in the place of a newer one would lose a wakeup: once one goes by the wire, all
 * do. A sender with a broken wire is dead: errors are ignored.
 */
static void tell(struct peer *peer, struct am_ack *ack, bool by_wire)
{
	struct remote to = { peer->remote_area.addr + offsetof(struct area, am_ack), peer->remote_area.rkey };
	void *there = by_wire ? NULL : direct_place(&peer->direct, to, sizeof(*ack));
	uint64_t unused;

	ack->rested = peer->am_rested;
	ack->check = am_ack_check(ack);
	if (there)
		store_ack(there, ack);
	else
		wire_put_behind(&peer->wire, wire_sge(ack, sizeof(*ack), 0), to, false, &unused);
}

static void tell_applied(struct am_receiver *ring)
{
	ring->ack.applied = ring->taken;
	if (peer_is_up(ring->peer))
		tell(ring->peer, &ring->ack, ring->by_wire);
}

/* Writes a message's result to the sender. Returns whether it fits its place. */
static bool write_result(struct am_receiver *ring, uint64_t number, uint32_t data_at, const void *result,
                         uint32_t size_bytes)
{
	const struct segment_ref *results = &ring->peer->area->am_results;
	const bool in_slot = data_at == AM_INLINE;
	struct remote to = { results->addr, results->rkey };
	void *there;

	if (!segment_ready(results) || (in_slot ? size_bytes > AM_INLINE_BYTES : data_at + size_bytes > AM_DATA_BYTES))
		return false;
	to.addr += in_slot ? (number - 1) % AM_SLOTS * AM_INLINE_BYTES : AM_SLOTS * AM_INLINE_BYTES + data_at;
	there = ring->by_wire ? NULL : direct_place(&ring->peer->direct, to, size_bytes);
	if (there) {
		memcpy(there, result, size_bytes);
		return true;
	}
	ring->by_wire = true;
	if (peer_is_up(ring->peer))
		wire_write(&ring->peer->wire, result, size_bytes, to);
	return true;
}

/* Writes the result that only the last answer has, unless the sender has taken it. */
static void write_held(struct am_receiver *ring, const struct am *am)
{
	if (ring->held_bytes > 0 && am->answered != (uint16_t)ring->taken)
		write_result(ring, ring->taken, AM_INLINE, ring->ack.result, ring->held_bytes);
	ring->held_bytes = 0;
}

/* Sends a message's result, or holds it for the answer. Returns whether it fits. */
static bool send_result(struct am_receiver *ring, const struct am *am, uint32_t size_bytes)
{
	const void *result = ring->peer->job->am.result;

	if (!am_ack_has_result(am->data_at, size_bytes))
		return write_result(ring, ring->taken + 1, am->data_at, result, size_bytes);
	memcpy(ring->ack.result, result, size_bytes);
	ring->held_bytes = size_bytes;
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

	/* Pairs with the flag_store in send_to_slot, or wire_word in stamp_by_wire, at the sender. */
	return flag_load(&ring->slots[taken % AM_SLOTS].stamp) == taken + 1;
}

/* The sender cannot change the copy after the checks. */
static void copy_next(const struct am_receiver *ring, struct am *am)
{
	const struct am *next = next_slot(ring);

	memcpy(am, next, offsetof(struct am, data) + AM_LINE_BYTES);
	if (am->data_at == AM_INLINE && am->data_bytes > AM_LINE_BYTES)
		memcpy(am->data + AM_LINE_BYTES, next->data + AM_LINE_BYTES, AM_INLINE_BYTES - AM_LINE_BYTES);
}

/* Returns where the operands lie; NULL: they cannot be read. */
static const uint8_t *find_data(const struct am_receiver *ring, const struct am *am)
{
	uint8_t *pulled = ring->peer->job->am.pulled;
	struct am_pull pull;

	if (am->call != AM_PULL)
		return ring->data;
	memcpy(&pull, am->data, sizeof(pull));
	if (pull.size_bytes > AM_PULLED_BYTES ||
	    !direct_pull(&ring->peer->direct, pull.addr, pulled, (size_t)pull.size_bytes))
		return NULL;
	return pulled;
}

/* False: the next message has to wait. */
static bool take_message(struct am_receiver *ring)
{
	struct am_service *service = &ring->peer->job->am;
	_Alignas(AM_ALIGN) struct am am;
	const uint8_t *data;
	int bytes;

	copy_next(ring, &am);
	data = find_data(ring, &am);
	bytes = data ? service->handler->apply(ring->peer->job, &am, data, service->result) : -AM_UNKNOWN;
	if (bytes == AM_LATER)
		return false;
	write_held(ring, &am);
	if (bytes > 0 && !send_result(ring, &am, (uint32_t)bytes))
		bytes = -AM_UNKNOWN;
	am_judge(ring->ack.refused, ring->taken + 1, bytes < 0 ? (enum am_verdict) - bytes : AM_APPLIED);
	__atomic_store_n(&ring->taken, ring->taken + 1, __ATOMIC_RELAXED);
	counter_store(&service->applied, service->applied + 1); /* pairs with stay_awake */
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
	if (ring->ack.applied != ring->taken)
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
	struct am_receiver *ring;
	bool any = false, all;

	pthread_mutex_lock(&am->lock);
	ring = __atomic_load_n(&am->list, __ATOMIC_ACQUIRE); /* pairs with am_receiver_open */
	for (; ring; ring = ring->next)
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

/* Wakeups. */

/* Tries to read the peer's area. Returns AM_RING_PULLS or 0. */
static uint64_t find_pulls(struct peer *peer)
{
	uint64_t word;

	return direct_pull(&peer->direct, peer->remote_area.addr, &word, sizeof(word)) ? AM_RING_PULLS : 0;
}

static bool make_ring(struct peer *peer)
{
	struct am_service *am = &peer->job->am;
	struct am_receiver *ring = calloc(1, sizeof(*ring));
	struct piece piece;

	if (!am->result)
		am->result = calloc(1, AM_LARGEST_BYTES);
	if (!am->pulled)
		am->pulled = malloc(AM_PULLED_BYTES);
	if (!ring || !am->result || !am->pulled || slab_alloc(&peer->job->slabs, AM_RING_BYTES, &piece)) {
		free(ring);
		return false;
	}
	ring->peer = peer;
	ring->slots = piece.addr;
	ring->data = (uint8_t *)piece.addr + AM_SLOTS * sizeof(struct am);
	ring->next = am->list;
	peer->am_ring = (struct segment_ref){ (uint64_t)(uintptr_t)piece.addr | find_pulls(peer),
		                                  piece.keys[peer->device->index].rkey, 0 };
	__atomic_store_n(&peer->am_receiver, ring, __ATOMIC_RELEASE); /* pairs with the loads of threads that drain it */
	__atomic_store_n(&am->list, ring, __ATOMIC_RELEASE);
	return true;
}

bool am_receiver_open(struct peer *peer)
{
	struct remote to = { peer->remote_area.addr + offsetof(struct area, am_ring), peer->remote_area.rkey };
	struct segment_ref ring = { .addr = 0 };
	uint64_t unused;

	if (peer->am_receiver || make_ring(peer))
		ring = peer->am_ring;
	ring.check = segment_check(&ring);
	/* Pairs with ring_of at the peer. */
	wire_put_behind(&peer->wire, wire_sge(&ring, sizeof(ring), 0), to, false, &unused);
	return ring.addr != 0;
}

/* The service thread replaces its receive. */
static void take_wakeup(struct oriel_job *job, int rank)
{
	struct peer *peer = peer_find(job, rank);

	if (!peer)
		return;
	job->am.woken = true;
	peer->am_bare = true;
	peer->am_wakes++;
	if (peer->am_receiver || (peer_is_up(peer) && am_receiver_open(peer)))
		return;
	job->am.welcoming = peer->am_waits = true;
}

void am_take_wakeups(struct oriel_job *job)
{
	uint64_t ids[WAKEUP_BATCH];
	uint32_t count;

	for (uint32_t i = 0; i < job->devices.count; i++) {
		const struct wakeup *wakeup = job->devices.list[i].wakeup;

		while (wakeup && (count = wakeup_take(wakeup, ids)) > 0) {
			for (uint32_t k = 0; k < count; k++)
				take_wakeup(job, (int)ids[k]);
		}
	}
}

void am_poll_wakeups(struct oriel_job *job)
{
	if (pthread_mutex_trylock(&job->am.wakeups) != 0)
		return;
	am_take_wakeups(job);
	pthread_mutex_unlock(&job->am.wakeups);
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
		tell(peer, &(struct am_ack){ 0 }, false);
	pthread_mutex_unlock(&am->lock);
}

void am_open(struct oriel_job *job, const struct am_handler *handler)
{
	pthread_mutex_init(&job->am.wakeups, NULL);
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
	free(job->am.pulled);
	pthread_mutex_destroy(&job->am.lock);
	pthread_mutex_destroy(&job->am.wakeups);
}
