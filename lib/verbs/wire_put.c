// SPDX-License-Identifier: BSD-2-Clause
/* wire_put.c - puts, and their merging into one request; see wire.h */
#include <string.h>

#include "verbs/wire_batch.h"

static int put_copied(struct wire *wire, struct ibv_sge origin, struct remote target)
{
	struct ring_copy *copy = reserve_copy(wire, origin.length, NULL);

	if (!copy)
		return wire_copy_failed(wire);
	memcpy(copy->landing, bytes_of(origin), origin.length);
	append_copy(wire, IBV_WR_RDMA_WRITE, target, copy);
	return 0;
}

int wire_put_locked(struct wire *wire, struct ibv_sge origin, struct remote target)
{
	if (!reserve(wire))
		return wire_lost_connection();
	if (origin.lkey)
		append_zero_copy(wire, IBV_WR_RDMA_WRITE, target, origin);
	else if (origin.length <= wire->inline_max)
		put_inline(wire, bytes_of(origin), origin.length, target);
	else
		return put_copied(wire, origin, target);
	return 0;
}

/* Returns the request in the batch that a put continues at the target, or NULL. */
static struct ibv_send_wr *continued(struct wire *wire, size_t size_bytes, struct remote target)
{
	struct ibv_send_wr *last;
	size_t merged;

	if (wire->batched == 0 || wire->fence)
		return NULL;
	last = &wire->wr[wire->batched - 1];
	merged = last->sg_list->length + size_bytes;
	if (last->opcode != IBV_WR_RDMA_WRITE || last->num_sge == 0 || last->wr.rdma.rkey != target.rkey ||
	    last->wr.rdma.remote_addr + last->sg_list->length != target.addr)
		return NULL;
	return merged <= WIRE_MERGED_MAX && merged <= wire->max_message_bytes ? last : NULL;
}

static bool continues_at(const struct ibv_send_wr *wr, uint64_t here)
{
	return wr->sg_list->addr + wr->sg_list->length == here;
}

/* Lengthens a request, which leaves when it is large. */
static void lengthen(struct wire *wire, struct ibv_send_wr *wr, size_t size_bytes)
{
	wr->sg_list->length += (uint32_t)size_bytes;
	if (wr->sg_list->length < WIRE_MERGED_MAX)
		return;
	ask_completion(wire, wr);
	ring_locked(wire);
}

static bool merge_inline(struct wire *wire, struct ibv_send_wr *wr, struct ibv_sge origin)
{
	uint8_t *data = wire->inline_data + wire->batched_bytes;

	if (!continues_at(wr, (uintptr_t)data) || wr->sg_list->length + origin.length > wire->inline_max ||
	    origin.length > WIRE_BATCH_BYTES - wire->batched_bytes)
		return false;
	copy_piece(data, bytes_of(origin), origin.length);
	wire->batched_bytes += (origin.length + 7) & ~7u;
	lengthen(wire, wr, origin.length);
	return true;
}

static bool merge_copied(struct wire *wire, struct ibv_send_wr *wr, struct ibv_sge origin)
{
	struct ring_copy *copy = copy_ring_extend(&wire->copies, origin.length, wire->posted);

	if (!copy)
		return false;
	memcpy((uint8_t *)copy->landing + wr->sg_list->length, bytes_of(origin), origin.length);
	if (copy_ring_wants_signal(&wire->copies, copy))
		ask_completion(wire, wr);
	lengthen(wire, wr, origin.length);
	return true;
}

static bool merge_registered(struct wire *wire, struct ibv_send_wr *wr, struct ibv_sge origin)
{
	if (!continues_at(wr, origin.addr) || wr->sg_list->lkey != origin.lkey)
		return false;
	lengthen(wire, wr, origin.length);
	return true;
}

/* Merges a put into the request before it if possible; returns whether it has. */
static bool merge(struct wire *wire, struct ibv_sge origin, struct remote target)
{
	struct ibv_send_wr *wr = continued(wire, origin.length, target);

	if (!wr)
		return false;
	if (origin.lkey)
		return merge_registered(wire, wr, origin);
	return origin.length <= wire->inline_max ? merge_inline(wire, wr, origin) : merge_copied(wire, wr, origin);
}

static int put(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number)
{
	int rc = 0;

	owned_lock_take(&wire->lock);
	if (!merge(wire, origin, target))
		rc = wire_put_locked(wire, origin, target);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* The caller holds the lock. */
static int put_inline_held(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number)
{
	struct ibv_send_wr *wr = continued(wire, origin.length, target);
	int rc = 0;

	if (!wr || !merge_inline(wire, wr, origin)) {
		if (reserve(wire))
			put_inline(wire, bytes_of(origin), origin.length, target);
		else
			rc = wire_lost_connection();
	}
	*number = wire->posted;
	return rc;
}

static __attribute__((noinline)) int put_inline_waiting(struct wire *wire, struct ibv_sge origin, struct remote target,
                                                        uint64_t *number)
{
	owned_lock_take(&wire->lock);
	return owned_lock_give_with(&wire->lock, put_inline_held(wire, origin, target, number));
}

/*
 * Fast path: a word into an empty batch, without a function call, so that no registers are saved.
 */
int wire_put_inline(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number)
{
	if (!owned_lock_take_as_owner(&wire->lock))
		return put_inline_waiting(wire, origin, target, number);
	if (origin.length != sizeof(uint64_t) || wire->batched > 0 || !has_room(wire))
		return owned_lock_give_with(&wire->lock, put_inline_held(wire, origin, target, number));
	append_inline(wire, bytes_of(origin), sizeof(uint64_t), target);
	*number = wire->posted;
	owned_lock_give_as_owner(&wire->lock);
	return 0;
}

/* Fast path: registered memory, into an empty batch, without a function call. */
int wire_put(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number)
{
	if (!origin.lkey && origin.length <= wire->inline_max)
		return wire_put_inline(wire, origin, target, number);
	if (!origin.lkey || origin.length > WIRE_BATCH_MAX || !owned_lock_take_as_owner(&wire->lock))
		return put(wire, origin, target, number);
	if (wire->batched > 0 || !has_room(wire)) {
		owned_lock_give_as_owner(&wire->lock);
		return put(wire, origin, target, number);
	}
	append_zero_copy(wire, IBV_WR_RDMA_WRITE, target, origin);
	*number = wire->posted;
	owned_lock_give_as_owner(&wire->lock);
	return 0;
}

int wire_write(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	size_t largest = wire->max_message_bytes < WIRE_COPY_MAX ? (size_t)wire->max_message_bytes : WIRE_COPY_MAX;
	uint64_t unused;
	int rc = 0;

	for (size_t done = 0, bytes; rc == 0 && done < size_bytes; done += bytes) {
		struct remote to = { target.addr + done, target.rkey };

		bytes = size_bytes - done < largest ? size_bytes - done : largest;
		rc = wire_put(wire, wire_sge((const uint8_t *)origin + done, bytes, 0), to, &unused);
	}
	return rc;
}
