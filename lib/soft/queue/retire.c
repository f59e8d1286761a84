// SPDX-License-Identifier: BSD-2-Clause
/* The end of requests: completed in order, flushed, or failed. Under qp->lock. */
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "soft/queue/cq.h"
#include "soft/queue/srq.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

static enum ibv_wc_opcode wc_opcode(uint32_t opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	default:
		return IBV_WC_SEND;
	}
}

static bool is_signalled(const struct soft_qp *qp, uint32_t flags)
{
	return qp->sig_all || flags & IBV_SEND_SIGNALED;
}

/* Returns false if the completion was lost. */
static bool completion(struct soft_qp *qp, uint64_t wr_id, uint32_t opcode, uint64_t length, enum ibv_wc_status status)
{
	struct soft_cqe cqe;

	memset(&cqe.wc, 0, sizeof(cqe.wc));
	cqe.wc.wr_id = wr_id;
	cqe.wc.status = status;
	cqe.wc.opcode = wc_opcode(opcode);
	cqe.wc.byte_len = (uint32_t)length;
	cqe.wc.qp_num = qp->ex.qp_base.qp_num;
	cqe.qp = qp;
	cqe.sq_end = qp->sq_tail;
	cqe.is_send = 1;
	return soft_cq_push(soft_cq(qp->ex.qp_base.send_cq), &cqe, false);
}

/* Completes the request at the tail. Returns false if its completion was lost. */
static bool complete(struct soft_qp *qp, enum ibv_wc_status status)
{
	const struct soft_wqe *wqe = soft_wqe(qp, qp->sq_tail++);

	if (status == IBV_WC_SUCCESS && !is_signalled(qp, wqe->flags))
		return true;
	return completion(qp, wqe->wr_id, wqe->opcode, wqe->length, status);
}

void soft_send_flush(struct soft_qp *qp)
{
	while (qp->sq_tail != qp->sq_head)
		complete(qp, IBV_WC_WR_FLUSH_ERR);
	soft_qp_restart(qp);
}

void soft_send_fail(struct soft_qp *qp, enum ibv_wc_status status)
{
	complete(qp, status);
	soft_qp_fail(qp);
}

static void completion_lost(struct soft_qp *qp)
{
	soft_qp_fail(qp);
	soft_async_qp(qp, IBV_EVENT_QP_FATAL);
}

void soft_send_done(struct soft_qp *qp)
{
	qp->give_up_ns = 0;
	qp->rnr_left = qp->attr.rnr_retry;
	if (!complete(qp, IBV_WC_SUCCESS))
		completion_lost(qp);
}

void soft_send_done_at_once(struct soft_qp *qp, uint64_t wr_id, uint32_t opcode, uint32_t flags, uint64_t length)
{
	qp->sq_head++;
	qp->sq_exec = qp->sq_tail = qp->sq_head;
	if (is_signalled(qp, flags) && !completion(qp, wr_id, opcode, length, IBV_WC_SUCCESS))
		completion_lost(qp);
}

void soft_recv_done(struct soft_qp *qp, struct soft_cqe *cqe, bool solicited)
{
	cqe->qp = qp;
	cqe->is_send = 0;
	cqe->wc.wr_id = qp->rx.wr_id;
	cqe->wc.qp_num = qp->ex.qp_base.qp_num;
	cqe->wc.src_qp = qp->attr.dest_qp_num;
	qp->rx_active = false;
	soft_cq_push(soft_cq(qp->ex.qp_base.recv_cq), cqe, solicited);
}

static void flush_recv(struct soft_qp *qp)
{
	struct soft_cqe cqe = { .wc = { .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV } };

	if (qp->rx_active)
		soft_recv_done(qp, &cqe, false);
	if (qp->ex.qp_base.srq) {
		/* Receives of the shared queue stay for other queue pairs. */
		if (!qp->last_wqe)
			soft_async_qp(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
		qp->last_wqe = true;
		return;
	}
	while (soft_rq_take(qp))
		soft_recv_done(qp, &cqe, false);
}

void soft_qp_fail(struct soft_qp *qp)
{
	soft_qp_set_state(qp, IBV_QPS_ERR);
	soft_send_flush(qp);
	flush_recv(qp);
}

static void give_up(struct soft_qp *qp)
{
	qp->inflight = 0;
	qp->part_done = 0;
	qp->sync_req.failure = SHM_ACK;
	qp->stall = SOFT_GO;
	qp->give_up_ns = 0;
	qp->resync = true;
	qp->epoch = atomic_fetch_add(&soft_core->object_serial, 1);
}

void soft_qp_restart(struct soft_qp *qp)
{
	qp->sq_exec = qp->sq_tail = qp->sq_head;
	give_up(qp);
}

void soft_send_lose(struct soft_qp *qp)
{
	while (qp->sq_tail != qp->sq_exec && soft_qp_state(qp) != IBV_QPS_ERR)
		soft_send_done(qp);
	give_up(qp);
}
