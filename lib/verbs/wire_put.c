// SPDX-License-Identifier: BSD-2-Clause
/* wire_put.c - puts, and their merging into one request; design notes in wire.h */
#include <string.h>

#include "verbs/wire_batch.h"

static int put_copied(struct wire *wire, const void *origin, size_t size_bytes, struct remote target)
{
	struct ring_copy *copy = reserve_copy(wire, (uint32_t)size_bytes, NULL);

	if (!copy)
		return wire_copy_failed(wire);
	memcpy(copy->landing, origin, size_bytes);
	append_copy(wire, IBV_WR_RDMA_WRITE, target, copy);
	return 0;
}

static inline __attribute__((always_inline)) int put_locked(struct wire *wire, const void *origin, uint32_t lkey,
                                                            size_t size_bytes, struct remote target)
{
	if (!reserve(wire))
		return wire_lost_connection();
	if (lkey)
		append_zero_copy(wire, IBV_WR_RDMA_WRITE, target, origin, size_bytes, lkey);
	else if (size_bytes <= wire->inline_max)
		put_inline(wire, origin, size_bytes, target);
	else
		return put_copied(wire, origin, size_bytes, target);
	return 0;
}

int wire_put_locked(struct wire *wire, const void *origin, uint32_t lkey, size_t size_bytes, struct remote target)
{
	return put_locked(wire, origin, lkey, size_bytes, target);
}

/*
 * Returns the request in the batch that a put continues at the target, or NULL. Puts are unordered.
 */
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

static bool continues_at(const struct ibv_send_wr *wr, const void *here)
{
	return wr->sg_list->addr + wr->sg_list->length == (uintptr_t)here;
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

static bool merge_inline(struct wire *wire, struct ibv_send_wr *wr, const void *origin, size_t size_bytes)
{
	uint8_t *data = wire->inline_data + wire->batched_bytes;

	if (!continues_at(wr, data) || wr->sg_list->length + size_bytes > wire->inline_max ||
	    size_bytes > WIRE_BATCH_BYTES - wire->batched_bytes)
		return false;
	copy_piece(data, origin, size_bytes);
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

/* Merges a put into the request before it, if it can; returns whether it has. */
static bool merge(struct wire *wire, const void *origin, uint32_t lkey, size_t size_bytes, struct remote target)
{
	struct ibv_send_wr *wr = continued(wire, size_bytes, target);

	if (!wr)
		return false;
	if (lkey)
		return merge_registered(wire, wr, origin, lkey, size_bytes);
	return size_bytes <= wire->inline_max ? merge_inline(wire, wr, origin, size_bytes)
	                                      : merge_copied(wire, wr, origin, size_bytes);
}

static __attribute__((noinline)) int put(struct wire *wire, const void *origin, uint32_t lkey, size_t size_bytes,
                                         struct remote target, uint64_t *number)
{
	int rc = 0;

	owned_lock_take(&wire->lock);
	if (!merge(wire, origin, lkey, size_bytes, target))
		rc = put_locked(wire, origin, lkey, size_bytes, target);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* Called with the lock held; releases it. */
static __attribute__((noinline)) int put_inline_entered(struct wire *wire, const void *origin, size_t size_bytes,
                                                        struct remote target, uint64_t *number)
{
	struct ibv_send_wr *wr = continued(wire, size_bytes, target);
	int rc = 0;

	if (!wr || !merge_inline(wire, wr, origin, size_bytes)) {
		if (reserve(wire))
			put_inline(wire, origin, size_bytes, target);
		else
			rc = wire_lost_connection();
	}
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

/*
 * Fast path: a word into an empty batch, without a function call, so that no registers are saved.
 */
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

/* Fast path: memory with a key, into an empty batch, without a function call. */
int wire_put(struct wire *wire, const void *origin, uint32_t lkey, size_t size_bytes, struct remote target,
             uint64_t *number)
{
	if (!lkey && size_bytes <= wire->inline_max)
		return wire_put_inline(wire, origin, size_bytes, target, number);
	if (!lkey || size_bytes > WIRE_BATCH_MAX || !owned_lock_take_as_owner(&wire->lock))
		return put(wire, origin, lkey, size_bytes, target, number);
	if (wire->batched > 0 || !has_room(wire)) {
		owned_lock_give_as_owner(&wire->lock);
		return put(wire, origin, lkey, size_bytes, target, number);
	}
	append_zero_copy(wire, IBV_WR_RDMA_WRITE, target, origin, size_bytes, lkey);
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
		rc = wire_put(wire, (const uint8_t *)origin + done, 0, bytes, to, &unused);
	}
	return rc;
}
