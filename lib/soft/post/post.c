// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibv_post_send and ibv_post_recv: check work requests, copy them into the queue, and advance it.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/peer/pipe.h"
#include "soft/post/post.h"
#include "soft/queue/cq.h"
#include "soft/request/request.h"
#include "soft/rma/copy.h"
#include "soft/rma/direct.h"
#include "soft/rma/proto.h"
#include "soft/state/qp.h"

/* Returns whether the posting thread can carry out this operation. */
static bool direct_kind(const struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
		return true;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		if (wr->num_sge != 1 || wr->sg_list[0].length != sizeof(uint64_t))
			return false;
		/* fall through */
	case IBV_WR_RDMA_READ:
		return qp->attr.max_rd_atomic && !(wr->send_flags & IBV_SEND_INLINE);
	default:
		return false;
	}
}

static bool takes_at_once(struct soft_qp *qp)
{
	return !soft_adversary.on && soft_qp_idle(qp);
}

/* Returns whether the request may take the fast path. */
static bool may_at_once(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	return takes_at_once(qp) && wr->num_sge >= 0 && (uint32_t)wr->num_sge <= qp->attr.cap.max_send_sge &&
	       direct_kind(qp, wr) && soft_sq_room(qp, qp->sq_head);
}

/* Notes that the next request has to go by ring. */
static void note_by_ring(struct soft_qp *qp)
{
	qp->by_ring = qp->sq_head;
	qp->by_ring_known = true;
}

/* Fast path: carries out a write or read on an idle queue. Returns false if it must be queued. */
static bool post_at_once(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	struct iovec iov[SOFT_MAX_SGE];
	struct soft_rdma op = { .opcode = wr->opcode,
		                    .nsge = (uint32_t)wr->num_sge,
		                    .rkey = wr->wr.rdma.rkey,
		                    .raddr = wr->wr.rdma.remote_addr,
		                    .iov = iov };
	enum ibv_wc_status status;

	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		op.rkey = wr->wr.atomic.rkey;
		op.compare_add = wr->wr.atomic.compare_add;
		op.swap = wr->wr.atomic.swap;
	}

	if (!may_at_once(qp, wr))
		return false;
	for (int i = 0; i < wr->num_sge; i++)
		op.length += wr->sg_list[i].length;
	if (op.length > SOFT_MAX_MSG || !soft_posted_ranges(qp, wr, op.length, iov))
		return false;
	switch (soft_direct(qp, &op, &status)) {
	case SOFT_DIRECT_DONE:
		break;
	case SOFT_DIRECT_RING:
	case SOFT_DIRECT_SYNC:
		note_by_ring(qp);
		return false;
	case SOFT_DIRECT_ERROR:
		return false;
	}
	soft_send_done_at_once(qp, wr->wr_id, wr->opcode, wr->send_flags, op.length);
	return true;
}

/* Returns the first request that needs the queue. */
static struct ibv_send_wr *at_once(struct soft_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *rest = wr->next && takes_at_once(qp) ? soft_batch(qp, wr) : wr;

	if (rest != wr)
		return rest;
	return post_at_once(qp, wr) ? wr->next : wr;
}

/* Returns whether a small write goes by ring without a try, as those before it. */
static bool untried(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	if (!qp->ring_left || wr->opcode != IBV_WR_RDMA_WRITE || wr->wr.rdma.rkey != qp->ring_rkey || wr->num_sge != 1 ||
	    wr->sg_list->length >= SOFT_POSTED_RING || wr->sg_list->length == 0 || !takes_at_once(qp) ||
	    !soft_peer_spins(&qp->out->peer))
		return false;
	qp->ring_left--;
	note_by_ring(qp);
	return true;
}

int soft_post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct soft_qp *qp = soft_qp(base);
	int err = 0;

	soft_lock(&qp->lock);
	/* A polling peer writes it often; soft_peer_spins reads it. */
	if (qp->out) {
		__builtin_prefetch(&qp->out->peer.seg->spin_ticks);
	} else if (qp->routes) {
		err = soft_datagram_post(qp, wr, bad);
		goto out;
	}
	if (!soft_takes_sends(soft_qp_state(qp)) || soft_call_fails(__func__)) {
		err = soft_takes_sends(soft_qp_state(qp)) ? ENOMEM : EINVAL;
		*bad = wr;
		goto out;
	}
	while (wr) {
		struct ibv_send_wr *rest = untried(qp, wr) ? wr : at_once(qp, wr);

		if (rest != wr) {
			wr = rest;
			continue;
		}
		err = soft_enqueue(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
		qp->sq_head++;
		wr = wr->next;
	}
	/* Once for the whole list, which may be coalesced. */
	if (qp->sq_exec != qp->sq_head)
		soft_pump(qp);
out:
	soft_unlock(&qp->lock);
	return err;
}

int soft_post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_qp *qp = soft_qp(base);
	int err = 0;

	if (soft_call_fails(__func__)) {
		*bad = wr;
		return ENOMEM;
	}
	if (base->srq) {
		*bad = wr;
		return EINVAL;
	}
	soft_lock(&qp->lock);
	if (soft_qp_state(qp) == IBV_QPS_RESET) {
		err = EINVAL;
		*bad = wr;
		goto out;
	}
	for (; wr; wr = wr->next) {
		err = soft_rq_put(&qp->rq, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	/* A receive in the error state is flushed. */
	if (soft_qp_state(qp) == IBV_QPS_ERR)
		soft_qp_fail(qp);
out:
	soft_unlock(&qp->lock);
	return err;
}

int soft_bind_mw(struct ibv_qp *base, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = bind->bind_info },
	};
	int err;

	if (soft_call_fails(__func__))
		return ENOMEM;
	err = soft_post_send(base, &wr, &bad);
	/* The caller may pass on the new key once the bind is posted. */
	if (!err && mw->type == IBV_MW_TYPE_1)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}
