// SPDX-License-Identifier: BSD-2-Clause
/* Access to a peer's memory: rmap.c. */
#ifndef SOFT_RMAP_H
#define SOFT_RMAP_H

#include <stdatomic.h>
#include <stdint.h>

#include "soft/mem/key.h"
#include "soft/peer/pipe.h"
#include "soft/state/shm.h"

enum soft_rmap_kind {
	SOFT_RMAP_NONE, /* only by ring */
	SOFT_RMAP_MAPPED,
	SOFT_RMAP_VM, /* process_vm_writev */
};

/* How a peer's memory region is accessed, cached under its serial number. */
struct soft_rmap {
	_Atomic uint32_t serial;
	uint32_t kind;   /* enum soft_rmap_kind */
	uint8_t *base;   /* SOFT_RMAP_MAPPED: this process's address of the owner's addr */
	uint64_t length; /* bytes */
};

/*
 * Returns the peer's region that a span's key grants, or NULL. The peer frees the memory only after
 * shm_busy_leave. Under qp->lock; the caller is busy.
 */
const struct shm_mr *soft_rmap_region(struct soft_qp *qp, struct soft_span span, uint32_t access);

/*
 * Maps `length` bytes of a peer's region, from `skip` on. Returns NULL if it is not a file that can
 * be opened and is sealed against shrinking. The caller is busy.
 */
void *soft_map_peer(const struct soft_out *out, const struct shm_mr *mr, uint64_t skip, uint64_t length);
void soft_unmap_peer(void *at, uint64_t length);
/* For the first use of a region, or of its place in the table. The caller is busy. */
void soft_rmap_renew(struct soft_out *out, const struct shm_mr *mr, uint32_t place);
void soft_rmap_forget(struct soft_out *out);

/* Returns how the region is accessed; *at becomes the address of `raddr` if it is mapped. */
static inline enum soft_rmap_kind soft_rmap_of(struct soft_out *out, const struct shm_mr *mr, uint64_t raddr, void **at)
{
	uint32_t place = (uint32_t)(mr - out->peer.seg->mr);
	struct soft_rmap *rmap = &out->rmap[place];

	if (out->self) {
		*at = (void *)(uintptr_t)(mr->addr + (raddr - mr->iova));
		return SOFT_RMAP_MAPPED;
	}
	if (atomic_load_explicit(&rmap->serial, memory_order_acquire) != mr->serial)
		soft_rmap_renew(out, mr, place);
	if (rmap->kind == SOFT_RMAP_MAPPED) {
		*at = rmap->base + (raddr - mr->iova);
		return SOFT_RMAP_MAPPED;
	}
	return out->can_vm ? SOFT_RMAP_VM : SOFT_RMAP_NONE;
}

#endif
