// SPDX-License-Identifier: BSD-2-Clause
/* How a peer's memory is reached from here. See reach.c. */
#ifndef SOFT_REACH_H
#define SOFT_REACH_H

#include <stdatomic.h>
#include <stdint.h>

#include "soft/verbs/pipe.h"
#include "soft/verbs/shm.h"

enum soft_reach {
	SOFT_REACH_NONE, /* only the owner can: by ring */
	SOFT_REACH_MAPPED,
	SOFT_REACH_VM, /* process_vm_writev */
};

/* A peer's memory region, or the fact that it cannot be mapped, cached under its serial number. */
struct soft_rmap {
	_Atomic uint32_t serial;
	uint32_t reach;  /* enum soft_reach */
	uint8_t *base;   /* SOFT_REACH_MAPPED: where the owner's addr is here */
	uint64_t length; /* bytes of it */
};

/*
 * The region of the peer's that a key grants, or NULL; until shm_busy_leave the peer waits for us before it frees the
 * memory. Under qp->lock; we are busy.
 */
const struct shm_mr *soft_reach_region(struct soft_qp *qp, uint32_t rkey, uint64_t addr, uint64_t length,
                                       uint32_t access);

/*
 * Map `length` bytes of a peer's region, `skip` bytes in; NULL where its memory is no file that can
 * be opened and is sealed against shrinking. The caller is busy, or the region could go meanwhile.
 */
void *soft_map_peer(const struct soft_out *out, const struct shm_mr *mr, uint64_t skip, uint64_t length);
void soft_unmap_peer(void *at, uint64_t length);
/*
 * First use of a region, or of a place in the table whose earlier region is gone; we are busy, so
 * it stays.
 */
void soft_reach_renew(struct soft_out *out, const struct shm_mr *mr, uint32_t place);
/* What was mapped of the peer's memory goes with the pipe. */
void soft_reach_forget(struct soft_out *out);

/* How the region is reached, and where `raddr` is in this process if it is mapped. */
static inline enum soft_reach soft_reach_of(struct soft_out *out, const struct shm_mr *mr, uint64_t raddr, void **at)
{
	uint32_t place = (uint32_t)(mr - out->peer.seg->mr);
	struct soft_rmap *rmap = &out->rmap[place];

	if (out->self) {
		*at = (void *)(uintptr_t)(mr->addr + (raddr - mr->iova));
		return SOFT_REACH_MAPPED;
	}
	if (atomic_load_explicit(&rmap->serial, memory_order_acquire) != mr->serial)
		soft_reach_renew(out, mr, place);
	if (rmap->reach == SOFT_REACH_MAPPED) {
		*at = rmap->base + (raddr - mr->iova);
		return SOFT_REACH_MAPPED;
	}
	return out->can_vm ? SOFT_REACH_VM : SOFT_REACH_NONE;
}

#endif
