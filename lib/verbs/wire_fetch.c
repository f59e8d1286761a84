// SPDX-License-Identifier: BSD-2-Clause
/* wire_fetch.c - gets and atomics, which return data from the peer; design notes in wire.h */
#include "verbs/wire_batch.h"

static int get_copied(struct wire *wire, struct ibv_sge origin, struct remote target)
{
	struct ring_copy *copy = reserve_copy(wire, origin.length, bytes_of(origin));

	if (!copy)
		return wire_copy_failed(wire);
	append_copy(wire, IBV_WR_RDMA_READ, target, copy);
	wire->fetching = wire->posted;
	return 0;
}

static inline int get_locked(struct wire *wire, struct ibv_sge origin, struct remote target)
{
	if (!origin.lkey)
		return get_copied(wire, origin, target);
	if (!reserve(wire))
		return wire_lost_connection();
	append_zero_copy(wire, IBV_WR_RDMA_READ, target, origin);
	wire->fetching = wire->posted;
	return 0;
}

static int get(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = get_locked(wire, origin, target);
	*number = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* Fast path: into registered memory, without a function call. */
int wire_get(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number)
{
	if (!origin.lkey || origin.length > WIRE_BATCH_MAX || !owned_lock_take_as_owner(&wire->lock))
		return get(wire, origin, target, number);
	if (!has_room(wire)) {
		owned_lock_give_as_owner(&wire->lock);
		return get(wire, origin, target, number);
	}
	append_zero_copy(wire, IBV_WR_RDMA_READ, target, origin);
	*number = wire->fetching = wire->posted;
	owned_lock_give_as_owner(&wire->lock);
	return 0;
}

/* Appends an atomic whose old value lands in `copy`. */
static inline void atomic_to_copy(struct wire *wire, const struct atomic *atomic, const struct ring_copy *copy)
{
	set_copy(wire, append_atomic(wire, atomic), copy);
}

static int atomic_copied(struct wire *wire, const struct atomic *atomic, uint64_t *old)
{
	struct ring_copy *copy = reserve_copy(wire, sizeof(*old), old);

	if (!copy)
		return wire_copy_failed(wire);
	atomic_to_copy(wire, atomic, copy);
	return 0;
}

static int atomic_locked(struct wire *wire, const struct atomic *atomic, uint64_t *old)
{
	if (old)
		return atomic_copied(wire, atomic, old);
	if (!reserve(wire))
		return wire_lost_connection();
	atomic_unread(wire, atomic);
	return 0;
}

static int post_any_atomic(struct wire *wire, const struct atomic *atomic, uint64_t *old, uint64_t *number)
{
	int rc;

	owned_lock_take(&wire->lock);
	rc = atomic_locked(wire, atomic, old);
	*number = wire->changing = wire->posted;
	owned_lock_give(&wire->lock);
	return rc;
}

/* Fast path: the old value is wanted; without a function call. */
int wire_atomic(struct wire *wire, const struct atomic *atomic, uint64_t *old, uint64_t *number)
{
	if (!old || !owned_lock_take_as_owner(&wire->lock))
		return post_any_atomic(wire, atomic, old, number);
	if (!has_copy_room(wire, sizeof(*old))) {
		owned_lock_give_as_owner(&wire->lock);
		return post_any_atomic(wire, atomic, old, number);
	}
	atomic_to_copy(wire, atomic, copy_ring_take(&wire->copies, sizeof(*old), wire->posted + 1, old));
	*number = wire->changing = wire->posted;
	owned_lock_give_as_owner(&wire->lock);
	return 0;
}
