// SPDX-License-Identifier: BSD-2-Clause
/* wire.c - one queue pair; design notes in wire.h. */
#include "verbs/wire_batch.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "oriel.h"
#include "verbs/device.h"
#include "verbs/wakeup.h"
#include "verbs/wire.h"

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

/* Fills the constant parts of work requests, and links them. */
static void fill_templates(struct wire *wire)
{
	for (uint32_t i = 0; i < WIRE_BATCH; i++) {
		memset(&wire->wr[i], 0, sizeof(wire->wr[i]));
		wire->wr[i].sg_list = &wire->sge[i];
		wire->wr[i].next = &wire->wr[i + 1];
	}
}

void wire_attach(struct wire *wire, const struct device *device, const struct wire_pair *pair, struct remote anchor,
                 struct ibv_sge sink)
{
	owned_lock_take(&wire->lock);
	wire->device = device;
	wire->qp = pair->qp;
	wire->cq = pair->cq;
	wire->inline_max = (uint32_t)min_size(min_u32(pair->inline_max, WIRE_BATCH_BYTES), device->max_message_bytes);
	wire->depth = device->send_depth;
	wire->max_message_bytes = device->max_message_bytes;
	wire->flag_mode = device->flag_mode;
	wire->anchor = anchor;
	wire->sink = sink;
	fill_templates(wire);
	state_store(&wire->state, WIRE_UP); /* pairs with the state_load of threads that wait for the connection */
	owned_lock_give(&wire->lock);
}

void wire_fail(struct wire *wire, const char *text)
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
	/*
	 * Also on a failed wire: the device releases origin memory, and carries out no more requests of
	 * the peer.
	 */
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

static bool is_of_memory(enum ibv_wc_status status)
{
	return status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR;
}

static void fail_completion(struct wire *wire, const struct ibv_wc *wc)
{
	static const char hint[] = ": memory of a window or buffer is not mapped, or a get's buffer cannot be written";
	char text[256];

	wire->memory_failed = is_of_memory(wc->status);
	snprintf(text, sizeof(text), "work request failed: %s (vendor error 0x%x)%s",
	         wire->device->functions->wc_status_str(wc->status), wc->vendor_err, is_of_memory(wc->status) ? hint : "");
	wire_fail(wire, text);
}

/* Completions come in the order of their numbers: the last good one covers all before it. */
static void take_completions(struct wire *wire, const struct ibv_wc *wc, int count)
{
	const struct ibv_wc *end = wc + count;
	uint64_t last = 0;

	for (; wc < end && wc->status == IBV_WC_SUCCESS; wc++)
		last = wc->wr_id;
	if (last)
		retire(wire, last);
	if (wc < end)
		fail_completion(wire, wc);
}

/* Takes the results of polls until one is not full. */
static __attribute__((noinline)) void take_all(struct wire *wire, struct ibv_wc *wc, int count)
{
	for (;;) {
		if (count < 0)
			wire_fail(wire, "the completion queue cannot be polled");
		else
			take_completions(wire, wc, count);
		if (count != WIRE_POLL_BATCH || wire->state != WIRE_UP)
			return;
		count = ibv_poll_cq(wire->cq, WIRE_POLL_BATCH, wc);
	}
}

/* Polls the completion queue, which rarely has more than one entry. */
static inline __attribute__((always_inline)) void look(struct wire *wire)
{
	struct ibv_wc wc[WIRE_POLL_BATCH];
	int count = wire->state == WIRE_UP ? ibv_poll_cq(wire->cq, WIRE_POLL_BATCH, wc) : 0;

	if (count == 1 && wc->status == IBV_WC_SUCCESS)
		retire(wire, wc->wr_id);
	else if (count != 0)
		take_all(wire, wc, count);
}

void wire_poll_locked(struct wire *wire)
{
	look(wire);
}

void wire_poll(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	wire_poll_locked(wire);
	owned_lock_give(&wire->lock);
}

void wire_ring(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	ring_locked(wire);
	owned_lock_give(&wire->lock);
}

bool wire_is_idle(struct wire *wire, uint64_t *number)
{
	bool idle;

	owned_lock_take(&wire->lock);
	if (wire->retired < wire->posted)
		wire_poll_locked(wire);
	idle = wire->state == WIRE_UP && wire->retired == wire->posted;
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return idle;
}

void wire_wait_turn(struct wire *wire, uint32_t turn)
{
	owned_lock_give(&wire->lock);
	if (turn < ROOM_SPINS)
		cpu_relax();
	else
		sched_yield();
	owned_lock_take(&wire->lock);
}

bool wire_wait_room(struct wire *wire)
{
	for (uint32_t turn = 0; wire->state == WIRE_UP; turn++) {
		if (wire->batched == WIRE_BATCH)
			ring_locked(wire);
		if (has_room(wire))
			return true;
		ring_locked(wire);
		wire_poll_locked(wire);
		if (!has_room(wire))
			wire_wait_turn(wire, turn);
	}
	return false;
}

bool wire_wait_copy_room(struct wire *wire, uint32_t size_bytes)
{
	for (uint32_t turn = 0;; turn++) {
		if (!reserve(wire) || !copy_ring_open(&wire->copies, wire->depth))
			return false;
		if (has_copy_room(wire, size_bytes))
			return true;
		ring_locked(wire);
		wire_poll_locked(wire);
		wire_wait_turn(wire, turn);
	}
}

int wire_lost_connection(void)
{
	return err_set(ORIEL_ERR_PEER, "the connection is broken");
}

int wire_copy_failed(const struct wire *wire)
{
	return wire->state == WIRE_UP ? ORIEL_ERR_MEMORY : wire_lost_connection();
}

void wire_append_empty(struct wire *wire)
{
	struct ibv_send_wr *wr;

	if (!reserve(wire))
		return;
	wr = append(wire, IBV_WR_RDMA_WRITE, wire->anchor);
	wr->num_sge = 0;
	ask_completion(wire, wr);
}

uint64_t wire_last_zero_copy(struct wire *wire)
{
	uint64_t number;

	owned_lock_take(&wire->lock);
	number = wire->zero_copy;
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
	look(wire);
	owned_lock_give(&wire->lock);
	return wire_done(wire, number);
}

bool wire_wait(struct wire *wire, uint64_t number)
{
	while (!wire_drive(wire, number)) {
		if (state_load(&wire->state) != WIRE_UP) /* pairs with wire_fail() and wire_break() */
			return false;
	}
	return true;
}

void wire_ping(struct wire *wire)
{
	owned_lock_take(&wire->lock);
	if (wire->state == WIRE_UP) {
		wire_poll_locked(wire);
		if (wire->signalled <= wire->retired)
			wire_append_empty(wire);
		ring_locked(wire);
	}
	owned_lock_give(&wire->lock);
}

/* Sets the text and keeps errno, by which callers recognise a shortage. */
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
			.recv_cq = device->wakeup ? device->wakeup->cq : pair->cq,
			.qp_type = IBV_QPT_RC,
			.cap = { device->send_depth, 1, 1, 1, inline_sizes[i] },
		};

		if (device->functions->create_qp(id, device->pd, &attr) == 0) {
			pair->qp = id->qp;
			pair->inline_max = attr.cap.max_inline_data;
			return 0;
		}
	}
	return no_device_object("rdma_create_qp", device->send_depth);
}

/* Makes the queue pair, and the completion queue of its sends. */
static int make_pair(const struct device *device, struct rdma_cm_id *id, uint64_t peer, struct wire_pair *pair)
{
	int rc;

	pair->cq = device->functions->create_cq(device->verbs, (int)device->send_depth + 1, NULL, NULL, 0);
	if (!pair->cq)
		return no_device_object("ibv_create_cq", device->send_depth + 1);
	rc = make_qp(device, id, pair);
	if (rc == 0 && device->wakeup && !wakeup_receive(id->qp, peer)) {
		rc = no_device_object("ibv_post_recv", 1);
		device->functions->destroy_qp(id);
	}
	if (rc) {
		int error = errno;

		device->functions->destroy_cq(pair->cq);
		pair->cq = NULL;
		errno = error;
	}
	return rc;
}

int wire_make_pair(const struct device *device, struct rdma_cm_id *id, uint64_t peer, struct wire_pair *pair)
{
	int rc = device->wakeup ? wakeup_add_pair(device->wakeup, device->functions) : 0;

	if (rc)
		return rc;
	rc = make_pair(device, id, peer, pair);
	if (rc && device->wakeup)
		wakeup_drop_pair(device->wakeup);
	return rc;
}

void wire_drop_pair(const struct device *device, struct rdma_cm_id *id, struct wire_pair *pair)
{
	if (!pair->cq)
		return;
	device->functions->destroy_qp(id);
	device->functions->destroy_cq(pair->cq);
	pair->cq = NULL;
	if (device->wakeup)
		wakeup_drop_pair(device->wakeup);
}
