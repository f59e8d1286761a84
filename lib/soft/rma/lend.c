// SPDX-License-Identifier: BSD-2-Clause
/*
 * softverbs_lend: a peer's registered memory, mapped for the program to load and store itself.
 *
 * DESIGN NOTES
 *
 * The queue pair, the key and the rights are checked once, as for a work request. The mapping is
 * the caller's, stays until softverbs_give_back, and outlives region, queue pair and peer. Both
 * sides have to agree on its end, as on the deregistration of a region.
 *
 * In adversary mode nothing is mapped, so that all operations use the routes that it disturbs.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/adversary.h"
#include "soft/base/export.h"
#include "soft/base/lock.h"
#include "soft/extension.h"
#include "soft/mem/key.h"
#include "soft/rma/reach.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

/* Returns a key's whole region. The caller is busy. */
static const struct shm_mr *region_of(struct soft_qp *qp, uint32_t rkey, uint32_t access)
{
	const struct shm_mr *mr = &qp->out->peer.seg->mr[soft_key_place(qp->out->peer.seg, rkey)];

	return soft_reach_region(qp, (struct soft_span){ mr->iova, 0, rkey }, access);
}

static const struct shm_mr *find_region(struct soft_qp *qp, uint32_t rkey, uint32_t access)
{
	uint32_t want = SHM_GATE_OPEN | qp->ex.qp_base.qp_num;
	uint32_t gate = shm_gate_load(qp->peer);

	want |= access & IBV_ACCESS_REMOTE_WRITE ? SHM_GATE_WRITE : 0;
	want |= access & IBV_ACCESS_REMOTE_READ ? SHM_GATE_READ | SHM_GATE_RD_RES : 0;
	if ((gate & want) != want || (gate & SHM_GATE_QPN) != qp->ex.qp_base.qp_num)
		return NULL;
	return region_of(qp, rkey, access);
}

/* Makes a separate mapping: the device's may end with the region. The caller is busy. */
static bool lend(struct soft_qp *qp, uint32_t rkey, uint32_t access, struct softverbs_lent *lent)
{
	const struct shm_mr *mr = find_region(qp, rkey, access);

	if (!mr || mr->length == 0)
		return false;
	lent->addr = mr->iova;
	lent->size_bytes = mr->length;
	lent->here = soft_map_peer(qp->out, mr, 0, mr->length);
	return lent->here;
}

SOFT_EXPORT int softverbs_lend(struct ibv_qp *base, uint32_t rkey, unsigned int access, struct softverbs_lent *lent)
{
	struct soft_qp *qp = soft_qp(base);
	bool done = false;

	if (soft_adversary.on)
		return EOPNOTSUPP;
	soft_lock(&qp->lock);
	if (soft_qp_state(qp) == IBV_QPS_RTS && qp->out && !qp->out->self) {
		shm_busy_enter(qp->shm, qp->out->peer.full_fence);
		done = lend(qp, rkey, access, lent);
		shm_busy_leave(qp->shm);
	}
	soft_unlock(&qp->lock);
	return done ? 0 : EOPNOTSUPP;
}

SOFT_EXPORT void softverbs_give_back(const struct softverbs_lent *lent)
{
	soft_unmap_peer(lent->here, lent->size_bytes);
}
