// SPDX-License-Identifier: BSD-2-Clause
/* wire_fetch.c - gets and atomics: what comes back from the peer; design notes in wire.h */
#include "verbs/wire_batch.h"

static int get_copied(struct wire *wire, void *origin, size_t size_bytes, struct remote target)
{
	struct ring_copy *copy = reserve_copy(wire, (uint32_t)size_bytes, origin);

	if (!copy)
		return wire_copy_failed(wire);
	append_copy(wire, IBV_WR_RDMA_READ, target, copy);
	return 0;
}

static int get_locked(struct wire *wire, enum way way, void *origin, uint32_t lkey, size_t size_bytes,
                      struct remote target)
{
	int rc = 0;

	if (!reserve(wire))
		return wire_lost_connection();
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

static inline int atomic_copied(struct wire *wire, const struct atomic *atomic, uint64_t *old)
{
	struct ring_copy *copy = reserve_copy(wire, sizeof(*old), old);
	struct ibv_send_wr *wr;

	if (!copy)
		return wire_copy_failed(wire);
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
		return wire_lost_connection();
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
