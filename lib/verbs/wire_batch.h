// SPDX-License-Identifier: BSD-2-Clause
/*
 * wire_batch.h - how requests enter a wire's batch and leave it; for wire*.c alone
 *
 * The fast path is inline; what waits or ends a wire is in wire.c. The caller of all holds
 * wire->lock.
 */
#ifndef ORIEL_WIRE_BATCH_H
#define ORIEL_WIRE_BATCH_H

#include "verbs/wire.h"

/* Marks the wire broken and calls wire->broken, once. */
void wire_fail(struct wire *wire, const char *text);

/* Return the error of a request that could not be appended. */
int wire_lost_connection(void);
int wire_copy_failed(const struct wire *wire);

void wire_poll_locked(struct wire *wire);

/* Releases the lock for one step of a wait, so that other threads can work. */
void wire_wait_turn(struct wire *wire, uint32_t turn);

/* Posts the batch, which is not empty; the wire is up. */
static inline void post_batch(struct wire *wire)
{
	struct ibv_send_wr *last = &wire->wr[wire->batched - 1], *bad;
	int rc;

	last->next = NULL;
	rc = ibv_post_send(wire->qp, wire->wr, &bad);
	last->next = last + 1;
	wire->batched = wire->batched_bytes = 0;
	if (rc)
		wire_fail(wire, "ibv_post_send refused a work request");
}

static inline void ring_locked(struct wire *wire)
{
	if (wire->batched > 0 && wire->state == WIRE_UP)
		post_batch(wire);
}

static inline bool has_room(const struct wire *wire)
{
	return wire->state == WIRE_UP && wire->batched < WIRE_BATCH && wire->posted - wire->retired < wire->depth;
}

/* See reserve(). */
bool wire_wait_room(struct wire *wire);

/*
 * Waits for room in the send queue; false once the wire is broken. Bounded: a request in every
 * quarter is signalled, and the device's retries end with a broken wire.
 */
static inline bool reserve(struct wire *wire)
{
	return has_room(wire) || wire_wait_room(wire);
}

/* Signals the last request, `wr`. */
static inline void ask_completion(struct wire *wire, struct ibv_send_wr *wr)
{
	wr->send_flags |= IBV_SEND_SIGNALED;
	wire->signalled = wire->posted;
}

/* Returns the next request, with number, opcode and target filled in. reserve() has found room. */
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

static inline bool has_copy_room(const struct wire *wire, uint32_t size_bytes)
{
	return has_room(wire) && copy_ring_is_open(&wire->copies) && copy_ring_has_room(&wire->copies, size_bytes);
}

/* See reserve_copy(). */
bool wire_wait_copy_room(struct wire *wire, uint32_t size_bytes);

/* Reserves room in queue and ring; NULL once the wire is broken or memory is out. */
static inline struct ring_copy *reserve_copy(struct wire *wire, uint32_t size_bytes, void *origin)
{
	if (!has_copy_room(wire, size_bytes) && !wire_wait_copy_room(wire, size_bytes))
		return NULL;
	return copy_ring_take(&wire->copies, size_bytes, wire->posted + 1, origin);
}

/* Posts a request above WIRE_BATCH_MAX, signalled: it takes longer than a doorbell. */
static inline void leave_if_large(struct wire *wire, struct ibv_send_wr *wr, size_t size_bytes)
{
	if (size_bytes <= WIRE_BATCH_MAX)
		return;
	ask_completion(wire, wr);
	ring_locked(wire);
}

/* Sends the last request, `wr`, through the ring. */
static inline void set_copy(struct wire *wire, struct ibv_send_wr *wr, const struct ring_copy *copy)
{
	*wr->sg_list = wire_sge(copy->landing, copy->size_bytes, wire->copies.piece.keys[wire->device->index].lkey);
	if (copy_ring_wants_signal(&wire->copies, copy))
		ask_completion(wire, wr);
	leave_if_large(wire, wr, copy->size_bytes);
}

static inline void append_copy(struct wire *wire, enum ibv_wr_opcode opcode, struct remote target,
                               const struct ring_copy *copy)
{
	set_copy(wire, append(wire, opcode, target), copy);
}

static inline void append_zero_copy(struct wire *wire, enum ibv_wr_opcode opcode, struct remote target,
                                    struct ibv_sge origin)
{
	struct ibv_send_wr *wr = append(wire, opcode, target);

	*wr->sg_list = origin;
	wire->zero_copy = wire->posted;
	leave_if_large(wire, wr, origin.length);
}

static inline void *bytes_of(struct ibv_sge sge)
{
	return (void *)(uintptr_t)sge.addr;
}

/* Appends `size_bytes` to the batch, which has room. */
static inline void append_inline(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	uint8_t *data = wire->inline_data + wire->batched_bytes;
	struct ibv_send_wr *wr = append(wire, IBV_WR_RDMA_WRITE, target);

	copy_piece(data, origin, size_bytes);
	*wr->sg_list = wire_sge(data, size_bytes, 0);
	wr->send_flags |= IBV_SEND_INLINE;
	wire->batched_bytes += (uint32_t)(size_bytes + 7) & ~7u;
}

/* Appends at most inline_max bytes, after posting the batch if it has no room. */
static inline void put_inline(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	if (size_bytes > WIRE_BATCH_BYTES - wire->batched_bytes)
		ring_locked(wire);
	append_inline(wire, origin, size_bytes, target);
}

/* Appends an atomic; reserve() has found room. Its old value has no place yet. */
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

static inline void atomic_unread(struct wire *wire, const struct atomic *atomic)
{
	struct ibv_send_wr *wr = append_atomic(wire, atomic);

	*wr->sg_list = wire->sink;
}

/* Appends a request without data, whose completion retires everything before it. */
void wire_append_empty(struct wire *wire);

/* Signals the last request: in the batch, or by one more behind it. */
static inline void signal_last(struct wire *wire)
{
	if (wire->signalled == wire->posted)
		return;
	if (wire->batched == 0) {
		wire_append_empty(wire);
		return;
	}
	ask_completion(wire, &wire->wr[wire->batched - 1]);
}

/* Puts like wire_put, without merging. */
int wire_put_locked(struct wire *wire, struct ibv_sge origin, struct remote target);

#endif
