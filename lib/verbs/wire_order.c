// SPDX-License-Identifier: BSD-2-Clause
/* wire_order.c - requests placed behind others: fences, flags, protocol words; see wire.h */
#include "verbs/wire_batch.h"

/* Appends a read of 8 unused bytes, which is answered when the writes before it are placed. */
static void append_read_behind(struct wire *wire)
{
	struct ibv_send_wr *wr;

	if (!reserve(wire))
		return;
	wr = append(wire, IBV_WR_RDMA_READ, wire->anchor);
	*wr->sg_list = wire->sink;
	ask_completion(wire, wr);
	wire->read_behind = wire->fetching = wire->posted;
}

/*
 * Waits until all reads and atomics are answered, or the wire is broken. Bounded as reserve() is.
 */
static void await_fetches(struct wire *wire)
{
	const uint64_t last = wire->fetching;

	for (uint32_t turn = 0; wire->state == WIRE_UP && wire->retired < last; turn++) {
		if (wire->signalled < last)
			signal_last(wire);
		ring_locked(wire);
		wire_poll_locked(wire);
		if (wire->retired < last)
			wire_wait_turn(wire, turn);
	}
}

/*
 * Makes the next request wait at the device for the reads and atomics before it. It holds up those
 * behind it, of any thread. If the device's fence may stall, waits here instead.
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

/* Puts few bytes, in their own request. */
static inline int put_few(struct wire *wire, struct ibv_sge origin, struct remote target)
{
	if (wire->inline_max < origin.length)
		return wire_put_locked(wire, origin, target);
	if (!reserve(wire))
		return wire_lost_connection();
	put_inline(wire, bytes_of(origin), origin.length, target);
	return 0;
}

static inline int put_word(struct wire *wire, uint64_t value, struct remote target)
{
	return put_few(wire, wire_sge(&value, sizeof(value), 0), target);
}

static int add_unread(struct wire *wire, uint64_t add, struct remote target)
{
	const struct atomic atomic = atomic_add(add, target);

	if (!reserve(wire))
		return wire_lost_connection();
	atomic_unread(wire, &atomic);
	return 0;
}

/* The general path: appends a flag, behind atomics too. */
static int append_any_flag(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	if (wire->changing > wire->retired)
		fence_locked(wire);
	rc = wire->flag_mode == FLAG_ATOMIC ? add_unread(wire, value - before, target) : put_word(wire, value, target);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* Returns whether a flag is an inline word with room, behind no atomic. */
static inline bool takes_plain_flag(const struct wire *wire)
{
	return wire->changing <= wire->retired && wire->flag_mode != FLAG_ATOMIC && has_room(wire) &&
	       wire->inline_max >= sizeof(uint64_t) && wire->batched_bytes <= WIRE_BATCH_BYTES - sizeof(uint64_t);
}

/*
 * Fast path: a plain flag calls only the doorbell. Returns false if the flag is not plain, or
 * another thread has the lock.
 */
static inline __attribute__((always_inline)) bool send_plain_flag(struct wire *wire, uint64_t value,
                                                                  struct remote target, bool signal, uint64_t *number)
{
	if (!owned_lock_take_as_owner(&wire->lock))
		return false;
	if (!takes_plain_flag(wire)) {
		owned_lock_give_as_owner(&wire->lock);
		return false;
	}
	append_inline(wire, &value, sizeof(value), target);
	*number = wire->posted;
	if (signal)
		signal_last(wire);
	post_batch(wire);
	owned_lock_give_as_owner(&wire->lock);
	return true;
}

int wire_flag(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number)
{
	int rc;

	if (send_plain_flag(wire, value, target, false, number))
		return 0;
	rc = append_any_flag(wire, before, value, target, number);
	wire_ring(wire);
	return rc;
}

int wire_flag_signalled(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number)
{
	int rc;

	if (send_plain_flag(wire, value, target, true, number))
		return 0;
	rc = append_any_flag(wire, before, value, target, number);
	wire_signal(wire);
	return rc;
}

/* Makes the last batched request wake the peer. */
static void make_waking(struct wire *wire)
{
	struct ibv_send_wr *wr = &wire->wr[wire->batched - 1];

	wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->imm_data = 0;
}

static int word_locked(struct wire *wire, uint64_t value, struct remote target, bool wake)
{
	int rc = put_word(wire, value, target);

	if (rc)
		return rc;
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
	wire_append_empty(wire);
	if (wire->state == WIRE_UP)
		make_waking(wire);
	else
		rc = wire_lost_connection();
	ring_locked(wire);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/*
 * Orders the next request behind everything posted so far: if the device does not keep writes in
 * order, behind a read that follows them. Atomics may be overtaken anywhere.
 */
static void order_next(struct wire *wire, bool ordered, bool gets)
{
	if (!ordered && wire->read_behind < wire->posted)
		append_read_behind(wire);
	if (!ordered || gets || wire->changing > wire->retired)
		fence_locked(wire);
}

static int put_behind_locked(struct wire *wire, struct ibv_sge origin, struct remote target, bool gets)
{
	int rc;

	order_next(wire, wire->flag_mode == FLAG_WRITE, gets);
	rc = put_few(wire, origin, target);
	ring_locked(wire);
	return rc;
}

int wire_put_behind(struct wire *wire, struct ibv_sge origin, struct remote target, bool gets, uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = put_behind_locked(wire, origin, target, gets);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* The specification orders atomics behind writes. */
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
