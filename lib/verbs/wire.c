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

#define RETRIES 6 /* times the device repeats an unanswered request; 7 would mean for ever on rxe */
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

/* What err_set and the like do must not change errno, by which callers tell a shortage. */
static int no_device_object(const char *what, uint32_t entries)
{
	int error = errno;

	err_set(ORIEL_ERR_DEVICE, "%s with %u entries failed: %s", what, entries, strerror(error));
	errno = error;
	return ORIEL_ERR_DEVICE;
}

static int make_qp(const struct device *device, struct rdma_cm_id *id, struct wire_pair *pair)
{
	static const uint32_t inline_sizes[] = { WIRE_INLINE_WANTED, 128, 64, 0 };

	for (size_t i = 0; i < sizeof(inline_sizes) / sizeof(inline_sizes[0]); i++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = pair->cq,
			.recv_cq = pair->cq,
			.qp_type = IBV_QPT_RC,
			.cap = { device->send_depth, 1, 1, 1, inline_sizes[i] },
		};

		if (device->functions->create_qp(id, device->pd, &attr) == 0) {
			pair->inline_max = attr.cap.max_inline_data;
			return 0;
		}
	}
	return no_device_object("rdma_create_qp", device->send_depth);
}

int wire_make_pair(const struct device *device, struct rdma_cm_id *id, struct wire_pair *pair)
{
	int rc;

	pair->cq = device->functions->create_cq(device->verbs, (int)device->send_depth + 1, NULL, NULL, 0);
	if (!pair->cq)
		return no_device_object("ibv_create_cq", device->send_depth + 1);
	rc = make_qp(device, id, pair);
	if (rc) {
		int error = errno;

		device->functions->destroy_cq(pair->cq);
		pair->cq = NULL;
		errno = error;
	}
	return rc;
}

void wire_drop_pair(const struct device *device, struct rdma_cm_id *id, struct wire_pair *pair)
{
	if (!pair->cq)
		return;
	device->functions->destroy_qp(id);
	device->functions->destroy_cq(pair->cq);
	pair->cq = NULL;
}

/* The parts of a work request that never change. */
static void fill_templates(struct wire *wire)
{
	for (uint32_t i = 0; i < WIRE_BATCH; i++) {
		memset(&wire->wr[i], 0, sizeof(wire->wr[i]));
		wire->wr[i].sg_list = &wire->sge[i];
	}
}

void wire_attach(struct wire *wire, const struct device *device, struct ibv_qp *qp, const struct wire_pair *pair,
                 struct remote anchor, uint64_t *sink, uint32_t sink_lkey)
{
	owned_lock_take(&wire->lock);
	wire->device = device;
	wire->qp = qp;
	wire->cq = pair->cq;
	wire->inline_max = min_u32(pair->inline_max, WIRE_BATCH_BYTES);
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
	if (wire->qp && wire->state == WIRE_UP)
		wire->device->functions->modify_qp(wire->qp, &attr, IBV_QP_STATE); /* the device lets go of origin memory */
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

static void poll_locked(struct wire *wire)
{
	struct ibv_wc wc[WIRE_POLL_BATCH];
	int count;

	do {
		count = wire->state == WIRE_UP && wire->qp ? ibv_poll_cq(wire->cq, WIRE_POLL_BATCH, wc) : 0;
		if (count < 0)
			fail(wire, "the completion queue cannot be polled");
		for (int i = 0; i < count && wire->state == WIRE_UP; i++) {
			if (wc[i].status == IBV_WC_SUCCESS)
				retire(wire, wc[i].wr_id);
			else
				fail_completion(wire, &wc[i]);
		}
	} while (count == WIRE_POLL_BATCH);
}

void wire_poll(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	poll_locked(wire);
	owned_lock_give(&wire->lock);
}

bool wire_done(const struct wire *wire, uint64_t number)
{
	return counter_load(&wire->retired) >= number; /* pairs with the counter_store of retire */
}

/* Posting. The caller holds the lock. */

static void ring_locked(struct wire *wire)
{
	struct ibv_send_wr *bad;
	int rc;

	if (wire->batched == 0 || wire->state != WIRE_UP)
		return;
	for (uint32_t i = 0; i + 1 < wire->batched; i++)
		wire->wr[i].next = &wire->wr[i + 1];
	wire->wr[wire->batched - 1].next = NULL;
	rc = ibv_post_send(wire->qp, wire->wr, &bad);
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

/*
 * Wait until the send queue has room for one more request. Bounded: the requests in it are
 * signalled every quarter, and the device gives up on an unreachable peer after its retries, which
 * breaks the wire.
 */
static bool reserve(struct wire *wire)
{
	for (uint32_t turn = 0; wire->state == WIRE_UP; turn++) {
		if (wire->batched == WIRE_BATCH)
			ring_locked(wire);
		if (wire->posted - wire->retired < wire->depth)
			return wire->state == WIRE_UP;
		ring_locked(wire);
		poll_locked(wire);
		if (wire->posted - wire->retired >= wire->depth)
			wait_turn(wire, turn);
	}
	return false;
}

/* The last request, `wr`, will tell its completion. */
static void ask_completion(struct wire *wire, struct ibv_send_wr *wr)
{
	wr->send_flags |= IBV_SEND_SIGNALED;
	wire->signalled = wire->posted;
}

/*
 * The next request of the batch with number, opcode and target filled in. reserve() has said that
 * there is room.
 */
static struct ibv_send_wr *append(struct wire *wire, enum ibv_wr_opcode opcode, struct remote target)
{
	struct ibv_send_wr *wr = &wire->wr[wire->batched++];

	wr->wr_id = ++wire->posted;
	wr->opcode = opcode;
	wr->num_sge = 1;
	wr->send_flags = 0;
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

/* Room in queue and ring for a copied transfer; NULL once the wire is broken or memory is out. */
static struct ring_copy *reserve_copy(struct wire *wire, uint32_t size_bytes, void *origin)
{
	for (uint32_t turn = 0;; turn++) {
		if (!reserve(wire) || !copy_ring_open(&wire->copies, wire->depth))
			return NULL;
		if (copy_ring_has_room(&wire->copies, size_bytes))
			return copy_ring_take(&wire->copies, size_bytes, wire->posted + 1, origin);
		ring_locked(wire);
		poll_locked(wire);
		wait_turn(wire, turn);
	}
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
static void leave_if_large(struct wire *wire, struct ibv_send_wr *wr, size_t size_bytes)
{
	if (size_bytes <= WIRE_BATCH_MAX)
		return;
	ask_completion(wire, wr);
	ring_locked(wire);
}

/* A request through the ring, by `copy`. */
static void append_copy(struct wire *wire, enum ibv_wr_opcode opcode, struct remote target,
                        const struct ring_copy *copy)
{
	struct ibv_send_wr *wr = append(wire, opcode, target);

	set_sge(wr, copy->landing, copy->size_bytes, wire->copies.piece.keys[wire->device->index].lkey);
	if (copy_ring_wants_signal(&wire->copies, copy))
		ask_completion(wire, wr);
	leave_if_large(wire, wr, copy->size_bytes);
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

/* `size_bytes`, at most what the device takes inline, into the batch. */
static void put_inline(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	uint8_t *data;
	struct ibv_send_wr *wr;

	if (size_bytes > WIRE_BATCH_BYTES - wire->batched_bytes)
		ring_locked(wire);
	data = wire->inline_data + wire->batched_bytes;
	wr = append(wire, IBV_WR_RDMA_WRITE, target);
	memcpy(data, origin, size_bytes);
	set_sge(wr, data, size_bytes, 0);
	wr->send_flags |= IBV_SEND_INLINE;
	wire->batched_bytes += (uint32_t)(size_bytes + 7) & ~7u;
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

static int put_locked(struct wire *wire, enum way way, const void *origin, uint32_t lkey, size_t size_bytes,
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

int wire_put(struct wire *wire, enum way way, const void *origin, uint32_t lkey, size_t size_bytes,
             struct remote target, uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = put_locked(wire, way, origin, lkey, size_bytes, target);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

enum way wire_copying_way(const struct wire *wire, size_t size_bytes)
{
	return size_bytes <= wire->inline_max ? WAY_INLINE : WAY_COPIED;
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
	if (!reserve(wire))
		return lost_connection();
	if (way == WAY_COPIED)
		return get_copied(wire, origin, size_bytes, target);
	append_zero_copy(wire, IBV_WR_RDMA_READ, target, origin, size_bytes, lkey);
	return 0;
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

static void flag_atomic(struct wire *wire, uint64_t add, struct remote target)
{
	struct ibv_send_wr *wr = append(wire, IBV_WR_ATOMIC_FETCH_AND_ADD, target);

	wr->wr.atomic.remote_addr = target.addr;
	wr->wr.atomic.compare_add = add;
	wr->wr.atomic.swap = 0;
	wr->wr.atomic.rkey = target.rkey;
	set_sge(wr, wire->sink, sizeof(*wire->sink), wire->sink_lkey);
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
	wire->read_behind = wire->posted;
}

/* Have the last request signalled: still in the batch, or by one more behind it. */
static void signal_last(struct wire *wire)
{
	if (wire->signalled == wire->posted)
		return;
	if (wire->batched == 0) {
		append_empty(wire);
		return;
	}
	ask_completion(wire, &wire->wr[wire->batched - 1]);
}

static int flag_locked(struct wire *wire, uint64_t before, uint64_t value, struct remote target, bool signal)
{
	if (!reserve(wire))
		return lost_connection();
	if (wire->flag_mode == FLAG_ATOMIC)
		flag_atomic(wire, value - before, target);
	else if (wire_copying_way(wire, sizeof(value)) == WAY_INLINE)
		put_inline(wire, &value, sizeof(value), target);
	else if (put_copied(wire, &value, sizeof(value), target))
		return lost_connection();
	if (signal)
		signal_last(wire);
	ring_locked(wire);
	return 0;
}

int wire_flag(struct wire *wire, uint64_t before, uint64_t value, struct remote target, bool signal, uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = flag_locked(wire, before, value, target, signal);
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

uint64_t wire_placing(struct wire *wire, uint64_t number)
{
	if (!wire->device || !wire->device->read_behind)
		return number;
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
