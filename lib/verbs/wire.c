// SPDX-License-Identifier: BSD-2-Clause
/* wire.c - one queue pair; design notes in wire.h. */
#include "verbs/wire.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "oriel.h"
#include "base/order.h"
#include "base/util.h"

#define ROOM_SPINS 1000

static_assert(WIRE_INLINE_WANTED <= WIRE_BATCH_BYTES, "what the device is asked for fits the batch");
static_assert(WIRE_COPY_MAX * 2 <= COPY_RING_BYTES, "two transfers fit the ring wherever they start");

void wire_init(struct wire *wire, struct slabs *slabs)
{
	owned_lock_init(&wire->lock);
	wire->copies.slabs = slabs;
	wire->state = WIRE_DOWN;
	wire->max_message_bytes = UINT64_MAX;
}

void wire_destroy(struct wire *wire)
{
	copy_ring_free(&wire->copies);
	owned_lock_destroy(&wire->lock);
}

/* The parts of a work request that never change, and the list that they are until some of them are posted. */
static void fill_templates(struct wire *wire)
{
	for (uint32_t i = 0; i < WIRE_BATCH; i++) {
		memset(&wire->wr[i], 0, sizeof(wire->wr[i]));
		wire->wr[i].sg_list = &wire->sge[i];
		wire->wr[i].next = &wire->wr[i + 1];
	}
}

void wire_attach(struct wire *wire, const struct device *device, struct ibv_qp *qp, const struct wire_pair *pair,
                 struct remote anchor, uint64_t *sink, uint32_t sink_lkey)
{
	owned_lock_take(&wire->lock);
	wire->device = device;
	wire->qp = qp;
	wire->cq = pair->cq;
	wire->inline_max = (uint32_t)min_size(min_u32(pair->inline_max, WIRE_BATCH_BYTES), device->max_message_bytes);
	wire->depth = device->send_depth;
	wire->max_message_bytes = device->max_message_bytes;
	wire->flag_mode = device->flag_mode;
	wire->anchor = anchor;
	wire->sink = sink;
	wire->sink_lkey = sink_lkey;
	fill_templates(wire);
	state_store(&wire->state, WIRE_UP); /* pairs with the state_load of threads that wait for the connection */
	owned_lock_give(&wire->lock);
}

/* The caller holds the lock. */
static void fail(struct wire *wire, const char *text)
{
	if (wire->state != WIRE_UP)
		return;
	wire->batched = wire->batched_bytes = 0;
	state_store(&wire->state, WIRE_BROKEN); /* pairs with the state_load in every waiting loop */
	wire->broken(wire->broken_arg, text);
}

void wire_break(struct wire *wire)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	owned_lock_take(&wire->lock);
	wire->batched = wire->batched_bytes = 0;
	/* The device lets go of origin memory, and carries out nothing that the peer still sends; a wire that failed too. */
	if (wire->qp && !wire->cut)
		wire->device->functions->modify_qp(wire->qp, &attr, IBV_QP_STATE);
	wire->cut = true;
	state_store(&wire->state, WIRE_BROKEN);
	owned_lock_give(&wire->lock);
}

static void retire(struct wire *wire, uint64_t number)
{
	copy_ring_retire(&wire->copies, number);
	counter_store(&wire->retired, number); /* pairs with the counter_load of wire_done: got data is in place */
}

static void fail_completion(struct wire *wire, const struct ibv_wc *wc)
{
	char text[128];

	snprintf(text, sizeof(text), "work request failed: %s (vendor error 0x%x)",
	         wire->device->functions->wc_status_str(wc->status), wc->vendor_err);
	fail(wire, text);
}

static inline void take_completions(struct wire *wire, const struct ibv_wc *wc, int count)
{
	for (const struct ibv_wc *end = wc + count; wc < end; wc++) {
		if (wc->status != IBV_WC_SUCCESS) {
			fail_completion(wire, wc);
			return;
		}
		retire(wire, wc->wr_id);
	}
}

static void poll_locked(struct wire *wire)
{
	struct ibv_wc wc[WIRE_POLL_BATCH];
	int count;

	do {
		count = wire->state == WIRE_UP ? ibv_poll_cq(wire->cq, WIRE_POLL_BATCH, wc) : 0;
		if (count < 0)
			fail(wire, "the completion queue cannot be polled");
		else
			take_completions(wire, wc, count);
	} while (count == WIRE_POLL_BATCH);
}

void wire_poll(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	poll_locked(wire);
	owned_lock_give(&wire->lock);
}

/* Posting. The caller holds the lock. */

static inline void ring_locked(struct wire *wire)
{
	struct ibv_send_wr *last, *bad;
	int rc;

	if (wire->batched == 0 || wire->state != WIRE_UP)
		return;
	last = &wire->wr[wire->batched - 1];
	last->next = NULL;
	rc = ibv_post_send(wire->qp, wire->wr, &bad);
	last->next = last + 1;
	wire->batched = wire->batched_bytes = 0;
	if (rc)
		fail(wire, "ibv_post_send refused a work request");
}

void wire_ring(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	ring_locked(wire);
	owned_lock_give(&wire->lock);
}

/*
 * One turn of a wait for room in the send queue or the ring: the lock is given up so that others
 * can work.
 */
static void wait_turn(struct wire *wire, uint32_t turn)
{
	owned_lock_give(&wire->lock);
	if (turn < ROOM_SPINS)
		cpu_relax();
	else
		sched_yield();
	owned_lock_take(&wire->lock);
}

static inline bool has_room(const struct wire *wire)
{
	return wire->state == WIRE_UP && wire->batched < WIRE_BATCH && wire->posted - wire->retired < wire->depth;
}

/* See reserve(). */
static __attribute__((noinline)) bool wait_room(struct wire *wire)
{
	for (uint32_t turn = 0; wire->state == WIRE_UP; turn++) {
		if (wire->batched == WIRE_BATCH)
			ring_locked(wire);
		if (has_room(wire))
			return true;
		ring_locked(wire);
		poll_locked(wire);
		if (!has_room(wire))
			wait_turn(wire, turn);
	}
	return false;
}

/*
 * Wait until the send queue has room for one more request. Bounded: the requests in it are
 * signalled every quarter, and the device gives up on an unreachable peer after its retries, which
 * breaks the wire.
 */
static inline bool reserve(struct wire *wire)
{
	return has_room(wire) || wait_room(wire);
}

/* The last request, `wr`, will tell its completion. */
static inline void ask_completion(struct wire *wire, struct ibv_send_wr *wr)
{
	wr->send_flags |= IBV_SEND_SIGNALED;
	wire->signalled = wire->posted;
}

/*
 * The next request of the batch with number, opcode and target filled in. reserve() has said that
 * there is room.
 */
static inline struct ibv_send_wr *append(struct wire *wire, enum ibv_wr_opcode opcode, struct remote target)
{
	struct ibv_send_wr *wr = &wire->wr[wire->batched++];

	wr->wr_id = ++wire->posted;
	wr->opcode = opcode;
	wr->num_sge = 1;
	wr->send_flags = wire->fence;
	wire->fence = 0;
	wr->wr.rdma.remote_addr = target.addr;
	wr->wr.rdma.rkey = target.rkey;
	if (wire->posted - wire->signalled >= wire->depth / 4)
		ask_completion(wire, wr);
	return wr;
}

static void set_sge(struct ibv_send_wr *wr, const void *addr, size_t size_bytes, uint32_t lkey)
{
	wr->sg_list->addr = (uint64_t)(uintptr_t)addr;
	wr->sg_list->length = (uint32_t)size_bytes;
	wr->sg_list->lkey = lkey;
}

static inline bool has_copy_room(const struct wire *wire, uint32_t size_bytes)
{
	return has_room(wire) && copy_ring_is_open(&wire->copies) && copy_ring_has_room(&wire->copies, size_bytes);
}

/* See reserve_copy(). */
static __attribute__((noinline)) bool wait_copy_room(struct wire *wire, uint32_t size_bytes)
{
	for (uint32_t turn = 0;; turn++) {
		if (!reserve(wire) || !copy_ring_open(&wire->copies, wire->depth))
			return false;
		if (has_copy_room(wire, size_bytes))
			return true;
		ring_locked(wire);
		poll_locked(wire);
		wait_turn(wire, turn);
	}
}

/* Room in queue and ring for a copied transfer; NULL once the wire is broken or memory is out. */
static inline struct ring_copy *reserve_copy(struct wire *wire, uint32_t size_bytes, void *origin)
{
	if (!has_copy_room(wire, size_bytes) && !wait_copy_room(wire, size_bytes))
		return NULL;
	return copy_ring_take(&wire->copies, size_bytes, wire->posted + 1, origin);
}

static int lost_connection(void)
{
	return err_set(ORIEL_ERR_PEER, "the connection is broken");
}

static int copy_failed(const struct wire *wire)
{
	return wire->state == WIRE_UP ? ORIEL_ERR_MEMORY : lost_connection();
}

/*
 * What takes the device longer than a doorbell does not wait for company, and tells its completion
 * itself.
 */
static inline void leave_if_large(struct wire *wire, struct ibv_send_wr *wr, size_t size_bytes)
{
	if (size_bytes <= WIRE_BATCH_MAX)
		return;
	ask_completion(wire, wr);
	ring_locked(wire);
}

/* The last request, `wr`, goes through the ring, by `copy`. */
static inline void set_copy(struct wire *wire, struct ibv_send_wr *wr, const struct ring_copy *copy)
{
	set_sge(wr, copy->landing, copy->size_bytes, wire->copies.piece.keys[wire->device->index].lkey);
	if (copy_ring_wants_signal(&wire->copies, copy))
		ask_completion(wire, wr);
	leave_if_large(wire, wr, copy->size_bytes);
}

static void append_copy(struct wire *wire, enum ibv_wr_opcode opcode, struct remote target,
                        const struct ring_copy *copy)
{
	set_copy(wire, append(wire, opcode, target), copy);
}

/* A request that uses the program's memory. */
static void append_zero_copy(struct wire *wire, enum ibv_wr_opcode opcode, struct remote target, const void *origin,
                             size_t size_bytes, uint32_t lkey)
{
	struct ibv_send_wr *wr = append(wire, opcode, target);

	set_sge(wr, origin, size_bytes, lkey);
	wire->zero_copy = wire->posted;
	leave_if_large(wire, wr, size_bytes);
}

/* `size_bytes`, for which there is room, into the batch. */
static inline void append_inline(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	uint8_t *data = wire->inline_data + wire->batched_bytes;
	struct ibv_send_wr *wr = append(wire, IBV_WR_RDMA_WRITE, target);

	copy_small(data, origin, size_bytes);
	set_sge(wr, data, size_bytes, 0);
	wr->send_flags |= IBV_SEND_INLINE;
	wire->batched_bytes += (uint32_t)(size_bytes + 7) & ~7u;
}

/* The same of at most what the device takes inline; what is in the batch may have to leave. */
static inline void put_inline(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	if (size_bytes > WIRE_BATCH_BYTES - wire->batched_bytes)
		ring_locked(wire);
	append_inline(wire, origin, size_bytes, target);
}

static int put_copied(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	struct ring_copy *copy = reserve_copy(wire, (uint32_t)size_bytes, NULL);

	if (!copy)
		return copy_failed(wire);
	memcpy(copy->landing, origin, size_bytes);
	append_copy(wire, IBV_WR_RDMA_WRITE, target, copy);
	return 0;
}

static inline int put_locked(struct wire *wire, enum way way, const void *origin, uint32_t lkey, size_t size_bytes,
                             struct remote target)
{
	if (!reserve(wire))
		return lost_connection();
	if (way == WAY_COPIED)
		return put_copied(wire, origin, size_bytes, target);
	if (way == WAY_INLINE)
		put_inline(wire, origin, size_bytes, target);
	else
		append_zero_copy(wire, IBV_WR_RDMA_WRITE, target, origin, size_bytes, lkey);
	return 0;
}

/* The request in the batch that a put continues at the target, or NULL. Puts have no order among themselves. */
static struct ibv_send_wr *continued(struct wire *wire, size_t size_bytes, struct remote target)
{
	struct ibv_send_wr *last = &wire->wr[wire->batched - 1];
	size_t merged = last->sg_list->length + size_bytes;

	if (last->opcode != IBV_WR_RDMA_WRITE || last->num_sge == 0 || last->wr.rdma.rkey != target.rkey ||
	    last->wr.rdma.remote_addr + last->sg_list->length != target.addr)
		return NULL;
	return merged <= WIRE_MERGED_MAX && merged <= wire->max_message_bytes ? last : NULL;
}

static bool continues_at(const struct ibv_send_wr *wr, const void *here)
{
	return wr->sg_list->addr + wr->sg_list->length == (uintptr_t)here;
}

/* It takes so many bytes more, and leaves when it is large. */
static void lengthen(struct wire *wire, struct ibv_send_wr *wr, size_t size_bytes)
{
	wr->sg_list->length += (uint32_t)size_bytes;
	if (wr->sg_list->length < WIRE_MERGED_MAX)
		return;
	ask_completion(wire, wr);
	ring_locked(wire);
}

static bool merge_inline(struct wire *wire, struct ibv_send_wr *wr, const void *origin, size_t size_bytes)
{
	uint8_t *data = wire->inline_data + wire->batched_bytes;

	if (!continues_at(wr, data) || wr->sg_list->length + size_bytes > wire->inline_max ||
	    size_bytes > WIRE_BATCH_BYTES - wire->batched_bytes)
		return false;
	copy_small(data, origin, size_bytes);
	wire->batched_bytes += (uint32_t)(size_bytes + 7) & ~7u;
	lengthen(wire, wr, size_bytes);
	return true;
}

static bool merge_copied(struct wire *wire, struct ibv_send_wr *wr, const void *origin, size_t size_bytes)
{
	struct ring_copy *copy = copy_ring_extend(&wire->copies, (uint32_t)size_bytes, wire->posted);

	if (!copy)
		return false;
	memcpy((uint8_t *)copy->landing + wr->sg_list->length, origin, size_bytes);
	if (copy_ring_wants_signal(&wire->copies, copy))
		ask_completion(wire, wr);
	lengthen(wire, wr, size_bytes);
	return true;
}

static bool merge_registered(struct wire *wire, struct ibv_send_wr *wr, const void *origin, uint32_t lkey,
                             size_t size_bytes)
{
	if (!continues_at(wr, origin) || wr->sg_list->lkey != lkey)
		return false;
	lengthen(wire, wr, size_bytes);
	return true;
}

/* Whether a put has become part of the request before it. */
static bool merge(struct wire *wire, enum way way, const void *origin, uint32_t lkey, size_t size_bytes,
                  struct remote target)
{
	struct ibv_send_wr *wr = wire->batched && !wire->fence ? continued(wire, size_bytes, target) : NULL;

	if (!wr)
		return false;
	switch (way) {
	case WAY_INLINE:
		return merge_inline(wire, wr, origin, size_bytes);
	case WAY_COPIED:
		return merge_copied(wire, wr, origin, size_bytes);
	case WAY_REGISTERED:
		break;
	}
	return merge_registered(wire, wr, origin, lkey, size_bytes);
}

int wire_put(struct wire *wire, enum way way, const void *origin, uint32_t lkey, size_t size_bytes,
             struct remote target, uint64_t *number)
{
	int rc = 0;

	owned_lock_take(&wire->lock);
	if (!merge(wire, way, origin, lkey, size_bytes, target))
		rc = put_locked(wire, way, origin, lkey, size_bytes, target);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* The caller has taken the lock, and is through with it. */
static __attribute__((noinline)) int put_inline_entered(struct wire *wire, const void *origin, size_t size_bytes,
                                                        struct remote target, uint64_t *number)
{
	int rc = 0;

	if (!wire->batched || !merge(wire, WAY_INLINE, origin, 0, size_bytes, target))
		rc = put_locked(wire, WAY_INLINE, origin, 0, size_bytes, target);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

static __attribute__((noinline)) int put_inline_waiting(struct wire *wire, const void *origin, size_t size_bytes,
                                                        struct remote target, uint64_t *number)
{
	owned_lock_take(&wire->lock);
	return put_inline_entered(wire, origin, size_bytes, target, number);
}

/* A word that nothing in the batch is before, by no call, so that nothing has to be kept for what comes after one. */
int wire_put_inline(struct wire *wire, const void *origin, size_t size_bytes, struct remote target, uint64_t *number)
{
	if (!owned_lock_take_as_owner(&wire->lock))
		return put_inline_waiting(wire, origin, size_bytes, target, number);
	if (size_bytes != sizeof(uint64_t) || wire->batched > 0 || !has_room(wire))
		return put_inline_entered(wire, origin, size_bytes, target, number);
	append_inline(wire, origin, sizeof(uint64_t), target);
	*number = wire->posted;
	owned_lock_give_as_owner(&wire->lock);
	return 0;
}

enum way wire_copying_way(const struct wire *wire, size_t size_bytes)
{
	return size_bytes <= wire->inline_max ? WAY_INLINE : WAY_COPIED;
}

int wire_write(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	size_t largest = wire->max_message_bytes < WIRE_COPY_MAX ? (size_t)wire->max_message_bytes : WIRE_COPY_MAX;
	uint64_t unused;
	int rc = 0;

	for (size_t done = 0, bytes; rc == 0 && done < size_bytes; done += bytes) {
		struct remote to = { target.addr + done, target.rkey };

		bytes = size_bytes - done < largest ? size_bytes - done : largest;
		rc = wire_put(wire, wire_copying_way(wire, bytes), (const uint8_t *)origin + done, 0, bytes, to, &unused);
	}
	return rc;
}

static int get_copied(struct wire *wire, void *origin, size_t size_bytes, struct remote target)
{
	struct ring_copy *copy = reserve_copy(wire, (uint32_t)size_bytes, origin);

	if (!copy)
		return copy_failed(wire);
	append_copy(wire, IBV_WR_RDMA_READ, target, copy);
	return 0;
}

static int get_locked(struct wire *wire, enum way way, void *origin, uint32_t lkey, size_t size_bytes,
                      struct remote target)
{
	int rc = 0;

	if (!reserve(wire))
		return lost_connection();
	if (way == WAY_COPIED)
		rc = get_copied(wire, origin, size_bytes, target);
	else
		append_zero_copy(wire, IBV_WR_RDMA_READ, target, origin, size_bytes, lkey);
	if (rc == 0)
		wire->fetching = wire->posted;
	return rc;
}

int wire_get(struct wire *wire, enum way way, void *origin, uint32_t lkey, size_t size_bytes, struct remote target,
             uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = get_locked(wire, way, origin, lkey, size_bytes, target);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* An atomic as the work request names it. */
struct atomic {
	enum ibv_wr_opcode opcode;
	uint64_t compare_add;
	uint64_t swap;
	struct remote target;
};

/* reserve() has said that there is room; the old value goes nowhere yet. */
static inline struct ibv_send_wr *append_atomic(struct wire *wire, const struct atomic *atomic)
{
	struct ibv_send_wr *wr = append(wire, atomic->opcode, atomic->target);

	wr->wr.atomic.remote_addr = atomic->target.addr;
	wr->wr.atomic.compare_add = atomic->compare_add;
	wr->wr.atomic.swap = atomic->swap;
	wr->wr.atomic.rkey = atomic->target.rkey;
	wire->fetching = wire->posted;
	return wr;
}

static void atomic_unread(struct wire *wire, const struct atomic *atomic)
{
	struct ibv_send_wr *wr = append_atomic(wire, atomic);

	set_sge(wr, wire->sink, sizeof(*wire->sink), wire->sink_lkey);
}

static inline int atomic_copied(struct wire *wire, const struct atomic *atomic, uint64_t *old)
{
	struct ring_copy *copy = reserve_copy(wire, sizeof(*old), old);
	struct ibv_send_wr *wr;

	if (!copy)
		return copy_failed(wire);
	wr = append_atomic(wire, atomic);
	set_copy(wire, wr, copy);
	return 0;
}

static void atomic_registered(struct wire *wire, const struct atomic *atomic, const struct wire_landing *landing)
{
	struct ibv_send_wr *wr = append_atomic(wire, atomic);

	set_sge(wr, landing->old, sizeof(*landing->old), landing->lkey);
	wire->zero_copy = wire->posted;
}

static inline int atomic_locked(struct wire *wire, const struct atomic *atomic, const struct wire_landing *landing)
{
	if (landing && landing->way == WAY_COPIED)
		return atomic_copied(wire, atomic, landing->old);
	if (!reserve(wire))
		return lost_connection();
	if (landing)
		atomic_registered(wire, atomic, landing);
	else
		atomic_unread(wire, atomic);
	return 0;
}

static inline int post_atomic(struct wire *wire, const struct atomic *atomic, const struct wire_landing *landing,
                              uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = atomic_locked(wire, atomic, landing);
	*number = wire->changing = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

int wire_fetch_and_add(struct wire *wire, uint64_t add, struct remote target, const struct wire_landing *landing,
                       uint64_t *number)
{
	struct atomic atomic = { IBV_WR_ATOMIC_FETCH_AND_ADD, add, 0, target };

	return post_atomic(wire, &atomic, landing, number);
}

int wire_compare_and_swap(struct wire *wire, uint64_t compare, uint64_t swap, struct remote target,
                          const struct wire_landing *landing, uint64_t *number)
{
	struct atomic atomic = { IBV_WR_ATOMIC_CMP_AND_SWP, compare, swap, target };

	return post_atomic(wire, &atomic, landing, number);
}

/* A request without data whose completion retires everything before it. */
static void append_empty(struct wire *wire)
{
	struct ibv_send_wr *wr;

	if (!reserve(wire))
		return;
	wr = append(wire, IBV_WR_RDMA_WRITE, wire->anchor);
	wr->num_sge = 0;
	ask_completion(wire, wr);
}

/* 8 bytes that nobody looks at: the answer comes when the writes before it are placed. */
static void append_read_behind(struct wire *wire)
{
	struct ibv_send_wr *wr;

	if (!reserve(wire))
		return;
	wr = append(wire, IBV_WR_RDMA_READ, wire->anchor);
	set_sge(wr, wire->sink, sizeof(*wire->sink), wire->sink_lkey);
	ask_completion(wire, wr);
	wire->read_behind = wire->fetching = wire->posted;
}

/* Have the last request signalled: still in the batch, or by one more behind it. */
static inline void signal_last(struct wire *wire)
{
	if (wire->signalled == wire->posted)
		return;
	if (wire->batched == 0) {
		append_empty(wire);
		return;
	}
	ask_completion(wire, &wire->wr[wire->batched - 1]);
}

/* Wait until the answers of all reads and atomics so far are there, or the wire is broken. Bounded as reserve() is. */
static void await_fetches(struct wire *wire)
{
	const uint64_t last = wire->fetching;

	for (uint32_t turn = 0; wire->state == WIRE_UP && wire->retired < last; turn++) {
		if (wire->signalled < last)
			signal_last(wire);
		ring_locked(wire);
		poll_locked(wire);
		if (wire->retired < last)
			wait_turn(wire, turn);
	}
}

/*
 * The next request waits at the device for the answers of the reads and atomics before it. The queue is
 * carried out in order: one request with the flag, whosever it is, holds up those behind it too. Where
 * the device cannot be trusted to go on, the wait is here.
 */
static void fence_locked(struct wire *wire)
{
	if (wire->fetching <= wire->retired)
		return;
	if (wire->device->fence_stalls)
		await_fetches(wire);
	else
		wire->fence = IBV_SEND_FENCE;
}

void wire_fence(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	fence_locked(wire);
	owned_lock_give(&wire->lock);
}

void wire_fence_changes(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	if (wire->changing > wire->retired)
		fence_locked(wire);
	owned_lock_give(&wire->lock);
}

static inline int put_word(struct wire *wire, uint64_t value, struct remote target)
{
	if (!reserve(wire))
		return lost_connection();
	if (wire->inline_max >= sizeof(value))
		put_inline(wire, &value, sizeof(value), target);
	else if (put_copied(wire, &value, sizeof(value), target))
		return lost_connection();
	return 0;
}

static int add_unread(struct wire *wire, uint64_t add, struct remote target)
{
	if (!reserve(wire))
		return lost_connection();
	atomic_unread(wire, &(struct atomic){ IBV_WR_ATOMIC_FETCH_AND_ADD, add, 0, target });
	return 0;
}

static inline int flag_locked(struct wire *wire, uint64_t before, uint64_t value, struct remote target, bool signal)
{
	int rc;

	if (wire->changing > wire->retired)
		fence_locked(wire);
	rc = wire->flag_mode == FLAG_ATOMIC ? add_unread(wire, value - before, target) : put_word(wire, value, target);
	if (rc)
		return rc;
	if (signal)
		signal_last(wire);
	ring_locked(wire);
	return 0;
}

static inline int send_flag(struct wire *wire, uint64_t before, uint64_t value, struct remote target, bool signal,
                            uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = flag_locked(wire, before, value, target, signal);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

int wire_flag(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number)
{
	return send_flag(wire, before, value, target, false, number);
}

int wire_flag_signalled(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number)
{
	return send_flag(wire, before, value, target, true, number);
}

/* The last request, still in the batch, wakes the peer. */
static void make_waking(struct wire *wire)
{
	struct ibv_send_wr *wr = &wire->wr[wire->batched - 1];

	wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->imm_data = 0;
}

static int word_locked(struct wire *wire, uint64_t value, struct remote target, bool wake)
{
	if (put_word(wire, value, target))
		return lost_connection();
	if (wake)
		make_waking(wire);
	ring_locked(wire);
	return 0;
}

int wire_word(struct wire *wire, uint64_t value, struct remote target, bool wake, uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = word_locked(wire, value, target, wake);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

int wire_wake(struct wire *wire, uint64_t *number)
{
	int rc = 0;

	owned_lock_take(&wire->lock);
	append_empty(wire);
	if (wire->state == WIRE_UP)
		make_waking(wire);
	else
		rc = lost_connection();
	ring_locked(wire);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/*
 * The next request is behind everything posted so far. Where the device does not keep writes in order
 * there is a read behind them first, whose answer it waits for; and atomics may be overtaken anywhere.
 */
static void order_next(struct wire *wire, bool ordered, bool gets)
{
	if (!ordered && wire->read_behind < wire->posted)
		append_read_behind(wire);
	if (!ordered || gets || wire->changing > wire->retired)
		fence_locked(wire);
}

static int put_behind_locked(struct wire *wire, const void *origin, size_t size_bytes, struct remote target, bool gets)
{
	int rc;

	order_next(wire, wire->flag_mode == FLAG_WRITE, gets);
	rc = put_locked(wire, wire_copying_way(wire, size_bytes), origin, 0, size_bytes, target);
	ring_locked(wire);
	return rc;
}

int wire_put_behind(struct wire *wire, const void *origin, size_t size_bytes, struct remote target, bool gets,
                    uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = put_behind_locked(wire, origin, size_bytes, target, gets);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* Atomics are behind writes by the specification. */
static int add_behind_locked(struct wire *wire, uint64_t add, struct remote target, bool gets)
{
	int rc;

	order_next(wire, wire->flag_mode != FLAG_WAIT, gets);
	rc = add_unread(wire, add, target);
	ring_locked(wire);
	return rc;
}

int wire_add_behind(struct wire *wire, uint64_t add, struct remote target, bool gets, uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = add_behind_locked(wire, add, target, gets);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

uint64_t wire_last_zero_copy(struct wire *wire)
{
	uint64_t number;

	owned_lock_take(&wire->lock);
	number = wire->zero_copy;
	owned_lock_give(&wire->lock);
	return number;
}

uint64_t wire_placing_behind(struct wire *wire, uint64_t number)
{
	owned_lock_take(&wire->lock);
	if (wire->read_behind < number)
		append_read_behind(wire);
	if (wire->read_behind > number)
		number = wire->read_behind;
	owned_lock_give(&wire->lock);
	return number;
}

uint64_t wire_signal(struct wire *wire)
{
	uint64_t number;

	owned_lock_take(&wire->lock);
	number = wire->posted;
	signal_last(wire);
	ring_locked(wire);
	owned_lock_give(&wire->lock);
	return number;
}

bool wire_drive(struct wire *wire, uint64_t number)
{
	if (wire_done(wire, number))
		return true;
	owned_lock_take(&wire->lock);
	if (wire->signalled < number)
		signal_last(wire);
	ring_locked(wire);
	poll_locked(wire);
	owned_lock_give(&wire->lock);
	return wire_done(wire, number);
}

bool wire_wait(struct wire *wire, uint64_t number)
{
	while (!wire_drive(wire, number)) {
		if (state_load(&wire->state) != WIRE_UP) /* pairs with fail() and wire_break() */
			return false;
	}
	return true;
}

void wire_ping(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	if (wire->state == WIRE_UP) {
		poll_locked(wire);
		if (wire->signalled <= wire->retired)
			append_empty(wire);
		ring_locked(wire);
	}
	owned_lock_give(&wire->lock);
}
