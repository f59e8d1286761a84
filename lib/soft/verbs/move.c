// SPDX-License-Identifier: BSD-2-Clause
/*
 * softverbs_move: RDMA that is over when the call returns.
 *
 * DESIGN NOTES What a NIC cannot do: where one system call moves the data, a completion only tells
 * what the caller could have known. Posting and polling take more than a thousand instructions,
 * which after a system call are all cold. Here the same checks are made and the same copy, and
 * there is nothing to wait for. The order is that of the queue, since nothing may be in it.
 *
 * A peer that looks into its pipes may be sooner than a system call (way.c). It is asked by a request that
 * is no element of the queue, and the caller looks for the answer himself. He does so for a bounded
 * time only (way.c), since the peer may have lost its processor: then he gives up, and what he posts
 * instead comes behind that request, because it is under way (qp->inflight), and does the same again. Who
 * asks carries out meanwhile what others ask of him, so two that ask each other both get their answers.
 *
 * In adversary mode everything goes by the queue.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/extension.h"
#include "soft/verbs/adversary.h"
#include "soft/verbs/core.h"
#include "soft/verbs/direct.h"
#include "soft/verbs/export.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/progress.h"
#include "soft/verbs/qp.h"
#include "soft/verbs/requester.h"
#include "soft/verbs/shm.h"
#include "soft/verbs/way.h"

/* Under qp->lock. */
static bool ask(struct soft_qp *qp, const struct soft_rdma *op, uint64_t *since)
{
	*since = shm_ticks();
	qp->asked.here = op->opcode == IBV_WR_RDMA_READ ? op->iov[0].iov_base : NULL;
	qp->asked.length = (uint32_t)op->length;
	soft_asked_store(&qp->asked, SOFT_ASKED);
	return soft_ask(qp, op);
}

/* The peer was asked at `since`. Has it done it? */
static bool answered(struct soft_qp *qp, const struct soft_rdma *op, uint64_t since)
{
	enum soft_way_kind kind = soft_kind_of(op);
	uint64_t took, patience_ticks = soft_way_patience_ticks(kind, op->length);
	enum soft_asked_state state;

	do {
		soft_progress(soft_core);
		soft_say_spinning(soft_core);
		state = soft_asked_load(&qp->asked);
		took = shm_ticks() - since;
	} while (state == SOFT_ASKED && took < patience_ticks);
	if (state == SOFT_ASKED) {
		soft_lock(&qp->lock);
		state = soft_asked_load(&qp->asked);
		soft_asked_store(&qp->asked, SOFT_ASKED_NOTHING);
		soft_unlock(&qp->lock);
		soft_way_lost(kind, op->length);
	} else {
		soft_way_took(kind, SOFT_BY_RING, op->length, took, 1);
	}
	return state == SOFT_ASKED_DONE;
}

SOFT_EXPORT int softverbs_move(struct ibv_qp *base, uint32_t rkey, uint64_t addr, void *here, size_t size_bytes,
                               bool write)
{
	struct iovec iov = { here, size_bytes };
	struct soft_rdma op = { .opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
		                    .nsge = 1,
		                    .rkey = rkey,
		                    .raddr = addr,
		                    .length = size_bytes,
		                    .waits = true,
		                    .posted = true,
		                    .iov = &iov };
	struct soft_qp *qp = soft_qp(base);
	enum soft_direct way = SOFT_DIRECT_RING;
	enum ibv_wc_status status;
	uint64_t since = 0;
	bool asked;

	if (soft_adversary.on)
		return EOPNOTSUPP;
	soft_lock(&qp->lock);
	if (soft_qp_idle(qp) && (write || qp->attr.max_rd_atomic))
		way = soft_direct(qp, &op, &status);
	asked = way == SOFT_DIRECT_ASK && ask(qp, &op, &since);
	soft_unlock(&qp->lock);
	return way == SOFT_DIRECT_DONE || (asked && answered(qp, &op, since)) ? 0 : EOPNOTSUPP;
}
