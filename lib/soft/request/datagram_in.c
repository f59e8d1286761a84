// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unreliable datagrams, the receiver's side: from a pipe into a receive, or dropped.
 *
 * DESIGN NOTES
 *
 * Drops are not reported: of a datagram with another Q_Key, or to a queue pair that is not ready,
 * has no receive, or too small a one, which then waits for the next datagram. A receive of a shared
 * queue is completed with an error instead, as by rxe; the queue pair continues. It fails only if a
 * receive's memory is not registered.
 *
 * The first SOFT_GRH_BYTES of a receive are for the global header, written if the datagram has one.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "soft/base/limits.h"
#include "soft/queue/cq.h"
#include "soft/queue/srq.h"
#include "soft/request/datagram.h"
#include "soft/rma/copy.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	SOFT_GRH_BYTES = 40,
	NEXT_HEADER_IB = 0x1b,
	THE_LID = 1, /* of every process, see device.c */
};

_Static_assert(sizeof(struct ibv_grh) == SOFT_GRH_BYTES, "a global header is what is written in front");

static bool is_wanted(struct soft_qp *qp, const struct shm_req *req)
{
	return (req->flags & (SHM_REQ_DATAGRAM | SHM_REQ_COALESCED)) == SHM_REQ_DATAGRAM &&
	       req->length <= SOFT_DATAGRAM_BYTES && soft_qp_connected(soft_qp_state(qp)) && req->rkey == qp->attr.qkey;
}

static void complete(struct soft_qp *qp, const struct shm_req *req, enum ibv_wc_status status)
{
	struct soft_cqe cqe = { .qp = qp };
	struct ibv_wc *wc = &cqe.wc;

	wc->wr_id = qp->rx.wr_id;
	wc->status = status;
	wc->opcode = IBV_WC_RECV;
	wc->qp_num = qp->ex.qp_base.qp_num;
	if (status == IBV_WC_SUCCESS) {
		wc->byte_len = SOFT_GRH_BYTES + req->length;
		wc->src_qp = req->src_qpn;
		wc->wc_flags = req->header.version_tclass_flow ? IBV_WC_GRH : 0;
		wc->slid = THE_LID;
		wc->sl = req->header.sl;
	}
	if (status == IBV_WC_SUCCESS && req->flags & SHM_REQ_IMM) {
		wc->wc_flags |= IBV_WC_WITH_IMM;
		wc->imm_data = req->imm;
	}
	soft_cq_push(soft_cq(qp->ex.qp_base.recv_cq), &cqe, status != IBV_WC_SUCCESS || req->flags & SHM_REQ_SOLICITED);
}

static void write_header(const struct shm_req *req, const struct iovec *iov, uint32_t n)
{
	struct ibv_grh grh = {
		.version_tclass_flow = req->header.version_tclass_flow,
		.paylen = htons((uint16_t)req->length),
		.next_hdr = NEXT_HEADER_IB,
		.hop_limit = req->header.hop_limit,
	};

	memcpy(grh.sgid.raw, req->address.sgid, sizeof(grh.sgid.raw));
	memcpy(grh.dgid.raw, req->address.dgid, sizeof(grh.dgid.raw));
	soft_copy_in(iov, n, &grh, 0, sizeof(grh));
}

static void too_small(struct soft_qp *qp, const struct shm_req *req)
{
	if (qp->ex.qp_base.srq)
		complete(qp, req, IBV_WC_REM_INV_REQ_ERR);
	else
		soft_rq_untake(&qp->rq);
}

void soft_datagram_take(struct soft_qp *qp, const struct shm_req *req, const uint8_t *data)
{
	struct iovec iov[SOFT_MAX_SGE];
	enum ibv_wc_status fits;

	if (!is_wanted(qp, req) || !soft_rq_take(qp))
		return;
	fits = soft_receive_ranges(qp, SOFT_GRH_BYTES + (uint64_t)req->length, iov);
	if (fits == IBV_WC_LOC_LEN_ERR) {
		too_small(qp, req);
		return;
	}
	if (fits != IBV_WC_SUCCESS) {
		complete(qp, req, fits);
		soft_qp_fail(qp);
		soft_async_qp(qp, IBV_EVENT_QP_REQ_ERR);
		return;
	}
	if (req->header.version_tclass_flow)
		write_header(req, iov, qp->rx.nsge);
	soft_copy_in(iov, qp->rx.nsge, data, SOFT_GRH_BYTES, req->length);
	complete(qp, req, IBV_WC_SUCCESS);
}
