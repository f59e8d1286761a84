// SPDX-License-Identifier: BSD-2-Clause
/*
 * Carries out peers' requests from the ring, under core->progress, on the thread that drains it.
 * The peer can still write a request's memory. So each is copied before it is read, and its sizes
 * and keys are checked as if it came over a wire.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "soft/base/base.h"
#include "soft/mem/key.h"
#include "soft/mem/mr.h"
#include "soft/peer/pipe.h"
#include "soft/queue/cq.h"
#include "soft/queue/srq.h"
#include "soft/request/datagram.h"
#include "soft/request/request.h"
#include "soft/rma/copy.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

struct inbound {
	struct soft_core *core;
	struct soft_in *in;
	struct shm_req req; /* without its data */
	const uint8_t *data;
	const uint8_t *chunk;
	struct shm_resp resp;
	uint8_t *resp_chunk;
	bool received; /* a message is complete: cqe is queued after the answer */
	struct soft_cqe cqe;
};

static struct soft_span span_of(const struct inbound *r, uint64_t length)
{
	return (struct soft_span){ r->req.raddr, length, r->req.rkey };
}

static bool is_send(uint32_t opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

/*
 * Refuses the request and fails the queue pair. On an unreliable connection only the message ends,
 * unless the error is the responder's own (SHM_NAK_OP).
 */
static enum shm_status nak(struct soft_qp *qp, enum shm_status status)
{
	if (soft_is_unreliable(qp) && status != SHM_NAK_OP) {
		qp->rx_drop = true;
		return status;
	}
	soft_qp_fail(qp);
	soft_async_qp(qp, status == SHM_NAK_ACCESS ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
	return status;
}

/*
 * Returns whether the request was still valid when its data were fetched: the requester closes its
 * gate before it returns the memory to its program.
 */
static bool still_wanted(const struct inbound *r, const struct soft_qp *qp)
{
	int index = shm_qpn_index(r->in->peer.seg, r->req.src_qpn);
	uint32_t gate;

	atomic_thread_fence(memory_order_seq_cst);
	gate = shm_gate_load(&r->in->peer.seg->qp[index]);
	return gate & SHM_GATE_OPEN && (gate & SHM_GATE_QPN) == qp->ex.qp_base.qp_num;
}

enum bringing {
	BROUGHT,
	LOST,      /* the requester has died or dropped the request */
	NOT_LEGAL, /* the requester's memory is not readable */
	NOT_BROUGHT,
};

static bool is_forbidden(int err)
{
	return err == EPERM || err == EACCES || err == ENOSYS;
}

/* Copies the part's data to this process's ranges, from `skip` bytes on. */
static enum bringing bring(const struct inbound *r, const struct soft_qp *qp, const struct iovec *iov, uint32_t n,
                           uint64_t skip)
{
	struct iovec there[SOFT_MAX_SGE];
	uint64_t total = 0;
	int err = 0;

	if (!(r->req.flags & SHM_REQ_FETCH)) {
		soft_copy_in(iov, n, r->req.length <= SHM_INLINE ? r->data : r->chunk, skip, r->req.length);
		/* Stores of the next request must not be visible before these. */
		atomic_thread_fence(memory_order_release);
		return BROUGHT;
	}
	memcpy(there, r->chunk, r->req.nsge * sizeof(there[0]));
	for (uint32_t i = 0; i < r->req.nsge; i++)
		total += there[i].iov_len;
	if (total != r->req.length)
		return NOT_BROUGHT;
	for (uint32_t i = 0; err == 0 && i < r->req.nsge; i++) {
		err = soft_vm_fetch(r->in->peer.pid, there[i], iov, n, skip);
		skip += there[i].iov_len;
	}
	if (is_forbidden(err))
		return NOT_LEGAL;
	if (err == ESRCH || !still_wanted(r, qp))
		return LOST;
	return err ? NOT_BROUGHT : BROUGHT;
}

/* The requester starts over with this message, which keeps its receive. */
static enum shm_status no_fetch(struct soft_qp *qp)
{
	qp->rx_drop = true;
	qp->rx_again = qp->rx_active;
	return SHM_NO_FETCH;
}

/* The message was cut off: its receive stays taken. */
static enum shm_status broke_off(struct soft_qp *qp)
{
	qp->rx_drop = true;
	return SHM_DROPPED;
}

/* ---- receives ---- */

static enum shm_status receive_failed(struct soft_qp *qp, enum ibv_wc_status status, enum shm_status answer)
{
	struct soft_cqe cqe = { .wc = { .status = status, .opcode = IBV_WC_RECV } };

	/* The receive is for the next message, unless it is shared. */
	if (soft_is_unreliable(qp) && status == IBV_WC_LOC_LEN_ERR) {
		if (!qp->ex.qp_base.srq)
			return nak(qp, answer);
		cqe.wc.status = IBV_WC_REM_INV_REQ_ERR;
	}
	soft_recv_done(qp, &cqe, true);
	return nak(qp, answer);
}

static void receive_done(struct inbound *r)
{
	struct ibv_wc *wc = &r->cqe.wc;

	*wc = (struct ibv_wc){ .status = IBV_WC_SUCCESS, .byte_len = (uint32_t)r->req.total };
	wc->opcode = r->req.opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	if (r->req.flags & SHM_REQ_IMM) {
		wc->wc_flags = IBV_WC_WITH_IMM;
		wc->imm_data = r->req.imm;
	} else if (r->req.flags & SHM_REQ_INV) {
		wc->wc_flags = IBV_WC_WITH_INV;
		wc->invalidated_rkey = r->req.imm;
	}
	r->received = true;
}

/* Takes a receive for a message's first part. Returns false if there is none. */
static bool receive_start(const struct inbound *r, struct soft_qp *qp)
{
	bool again;

	if (r->req.flags & SHM_REQ_FIRST) {
		/* A message that was cut off has left its receive; one that starts over keeps its own. */
		if (qp->rx_active) {
			again = qp->rx_again;
			qp->rx_again = false;
			return again || soft_is_unreliable(qp);
		}
		if (!soft_rq_take(qp))
			return false;
		qp->rx_active = true;
	}
	return qp->rx_active;
}

static enum shm_status rnr(struct inbound *r, struct soft_qp *qp)
{
	r->resp.rnr_timer = qp->attr.min_rnr_timer;
	qp->rx_drop = true;
	return SHM_RNR;
}

static enum shm_status do_send(struct inbound *r, struct soft_qp *qp)
{
	struct iovec iov[SOFT_MAX_SGE];
	enum ibv_wc_status fits;
	enum bringing bringing;

	if (!receive_start(r, qp))
		return rnr(r, qp);
	/* Checks the whole message, so that no part of a refused one is placed. */
	fits = soft_receive_ranges(qp, r->req.total, iov);
	if (fits == IBV_WC_LOC_PROT_ERR)
		return receive_failed(qp, fits, SHM_NAK_OP);
	if (fits != IBV_WC_SUCCESS || r->req.offset > r->req.total || r->req.length > r->req.total - r->req.offset)
		return receive_failed(qp, IBV_WC_LOC_LEN_ERR, SHM_NAK_INV_REQ);
	bringing = bring(r, qp, iov, qp->rx.nsge, r->req.offset);
	if (bringing == NOT_LEGAL)
		return no_fetch(qp);
	if (bringing == LOST || (bringing == NOT_BROUGHT && soft_is_unreliable(qp)))
		return broke_off(qp);
	if (bringing == NOT_BROUGHT)
		return receive_failed(qp, IBV_WC_LOC_QP_OP_ERR, SHM_NAK_OP);
	if (!(r->req.flags & SHM_REQ_LAST))
		return SHM_ACK;
	if (r->req.flags & SHM_REQ_INV &&
	    !soft_mw_invalidate(r->core, r->req.imm, qp->ex.qp_base.pd->handle, qp->ex.qp_base.qp_num))
		return receive_failed(qp, IBV_WC_LOC_QP_OP_ERR, SHM_NAK_ACCESS);
	receive_done(r);
	return SHM_ACK;
}

/* ---- RDMA ---- */

/* Returns the address that the key grants to a request, or NULL with *status. */
static void *rdma_target(const struct inbound *r, struct soft_qp *qp, uint32_t access, struct soft_span span,
                         enum shm_status *status)
{
	const struct shm_mr *mr;

	*status = SHM_NAK_INV_REQ;
	if (!(qp->attr.qp_access_flags & access))
		return NULL;
	if (access != IBV_ACCESS_REMOTE_WRITE && !qp->attr.max_dest_rd_atomic)
		return NULL;
	*status = SHM_NAK_ACCESS;
	mr = soft_key_find(r->core->seg, span, qp->ex.qp_base.pd->handle, qp->ex.qp_base.qp_num, access);
	if (!mr)
		return NULL;
	return (void *)(uintptr_t)(mr->addr + (span.addr - mr->iova));
}

static enum shm_status do_write(struct inbound *r, struct soft_qp *qp)
{
	bool imm = r->req.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	uint64_t rest = r->req.total - r->req.offset;
	struct soft_span span = span_of(r, rest);
	struct iovec iov = { .iov_len = r->req.length };
	enum bringing bringing;
	enum shm_status status;

	if (r->req.offset > r->req.total || r->req.length > rest)
		return nak(qp, SHM_NAK_INV_REQ);
	if (r->req.total == 0 && !(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE))
		return nak(qp, SHM_NAK_INV_REQ);
	if (r->req.total != 0) {
		/* Checks the whole rest, so that no part of a refused write is placed. */
		iov.iov_base = rdma_target(r, qp, IBV_ACCESS_REMOTE_WRITE, span, &status);
		if (!iov.iov_base)
			return nak(qp, status);
	}
	if (imm && !receive_start(r, qp))
		return rnr(r, qp);
	bringing = bring(r, qp, &iov, 1, 0);
	if (bringing == NOT_LEGAL)
		return no_fetch(qp);
	if (bringing == LOST || (bringing == NOT_BROUGHT && soft_is_unreliable(qp)))
		return broke_off(qp);
	if (bringing == NOT_BROUGHT)
		return imm ? receive_failed(qp, IBV_WC_LOC_QP_OP_ERR, SHM_NAK_OP) : nak(qp, SHM_NAK_OP);
	if (imm && r->req.flags & SHM_REQ_LAST)
		receive_done(r);
	return SHM_ACK;
}

/* Carries out the next piece; advances *at and *left. */
static enum shm_status do_piece(const struct inbound *r, struct soft_qp *qp, const uint8_t **at, uint32_t *left)
{
	struct shm_piece piece;
	enum shm_status status;
	struct soft_span span;
	void *to;

	if (*left < sizeof(piece))
		return SHM_NAK_INV_REQ;
	memcpy(&piece, *at, sizeof(piece));
	*at += sizeof(piece);
	*left -= (uint32_t)sizeof(piece);
	if (piece.length > *left)
		return SHM_NAK_INV_REQ;
	span = (struct soft_span){ piece.raddr, piece.length, piece.rkey };
	to = rdma_target(r, qp, IBV_ACCESS_REMOTE_WRITE, span, &status);
	if (!to)
		return status;
	soft_copy(to, *at, piece.length);
	/* A flag that follows data must not be visible before it. */
	atomic_thread_fence(memory_order_release);
	piece.length = (piece.length + 7) / 8 * 8;
	if (piece.length > *left)
		piece.length = *left;
	*at += piece.length;
	*left -= piece.length;
	return SHM_ACK;
}

static enum shm_status do_coalesced(struct inbound *r, struct soft_qp *qp)
{
	const uint8_t *at = r->req.length <= SHM_INLINE ? r->data : r->chunk;
	uint32_t left = r->req.length;

	for (uint32_t i = 0; i < r->req.nsge; i++) {
		enum shm_status status = do_piece(r, qp, &at, &left);

		if (status != SHM_ACK)
			return nak(qp, status);
		r->resp.length++;
	}
	return SHM_ACK;
}

static enum shm_status do_read(struct inbound *r, struct soft_qp *qp)
{
	struct soft_span span = span_of(r, r->req.length);
	enum shm_status status;
	void *from;

	if (r->req.length > SHM_CHUNK)
		return nak(qp, SHM_NAK_INV_REQ);
	if (r->req.length == 0)
		return qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ && qp->attr.max_dest_rd_atomic
		           ? SHM_ACK
		           : nak(qp, SHM_NAK_INV_REQ);
	from = rdma_target(r, qp, IBV_ACCESS_REMOTE_READ, span, &status);
	if (!from)
		return nak(qp, status);
	soft_copy(r->resp_chunk, from, r->req.length);
	/* The next request must not read older data. */
	atomic_thread_fence(memory_order_acquire);
	r->resp.length = r->req.length;
	r->resp.offset = r->req.offset;
	return SHM_ACK;
}

static enum shm_status do_atomic(struct inbound *r, struct soft_qp *qp)
{
	struct soft_span span = span_of(r, sizeof(uint64_t));
	enum shm_status status;
	void *at;

	at = rdma_target(r, qp, IBV_ACCESS_REMOTE_ATOMIC, span, &status);
	if (at && (uintptr_t)at % sizeof(uint64_t)) {
		at = NULL;
		status = SHM_NAK_INV_REQ;
	}
	if (!at)
		return nak(qp, status);
	r->resp.value = soft_atomic(r->req.opcode, at, r->req.compare_add, r->req.swap);
	r->resp.length = sizeof(uint64_t);
	return SHM_ACK;
}

/* ---- all requests ---- */

static bool well_formed(const struct shm_req *req)
{
	if (req->flags & SHM_REQ_FETCH)
		return req->nsge <= SOFT_MAX_SGE && !(req->flags & SHM_REQ_COALESCED);
	return req->length <= SHM_CHUNK;
}

/*
 * Returns false if a reused number has led a datagram, or a request, to a queue pair of the other
 * kind.
 */
static bool is_of_kind(const struct inbound *r, const struct soft_qp *qp)
{
	return !qp->routes == !(r->req.flags & SHM_REQ_DATAGRAM);
}

/* Handles a request that is not from the connected peer. */
static enum shm_status unheard(const struct inbound *r, struct soft_qp *qp)
{
	if (!qp->routes || !is_of_kind(r, qp))
		return SHM_NOT_READY;
	if (shm_qpn_index(r->in->peer.seg, r->req.src_qpn) >= 0)
		soft_datagram_take(qp, &r->req, r->req.length <= SHM_INLINE ? r->data : r->chunk);
	return SHM_ACK;
}

/* Returns whether this ends a refusal, which on an unreliable connection covers one message. */
static bool starts_over(const struct inbound *r, const struct soft_qp *qp)
{
	return r->req.flags & (soft_is_unreliable(qp) ? SHM_REQ_FIRST : SHM_REQ_RESYNC);
}

static enum shm_status carry_out(struct inbound *r, struct soft_qp *qp)
{
	if (!is_of_kind(r, qp) || !soft_qp_connected(soft_qp_state(qp)) || qp->unheard ||
	    qp->attr.dest_qp_num != r->req.src_qpn || shm_qpn_index(r->in->peer.seg, r->req.src_qpn) < 0)
		return unheard(r, qp);
	if (qp->rx_drop && !starts_over(r, qp))
		return SHM_DROPPED;
	qp->rx_drop = false;
	if (soft_qp_state(qp) == IBV_QPS_RTR && !qp->comm_est) {
		qp->comm_est = true;
		soft_async_qp(qp, IBV_EVENT_COMM_EST);
	}
	if (!well_formed(&r->req))
		return nak(qp, SHM_NAK_INV_REQ);
	if (r->req.flags & SHM_REQ_COALESCED)
		return do_coalesced(r, qp);
	if (is_send(r->req.opcode))
		return do_send(r, qp);
	switch (r->req.opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return do_write(r, qp);
	case IBV_WR_RDMA_READ:
		return do_read(r, qp);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return do_atomic(r, qp);
	default:
		return nak(qp, SHM_NAK_INV_REQ);
	}
}

/*
 * Publishes the answer before the receive's completion, both under qp->lock, so that no message of
 * the program overtakes the answer.
 */
static void answer(struct inbound *r, struct soft_qp *qp, struct shm_resp *resp)
{
	memcpy(resp, &r->resp, offsetof(struct shm_resp, turn));
	shm_resp_publish(resp, ++r->in->resp_head);
	if (r->received)
		soft_recv_done(qp, &r->cqe, r->req.flags & SHM_REQ_SOLICITED);
}

void soft_respond(struct soft_core *core, struct soft_in *in, uint32_t at)
{
	const struct shm_req *req = &in->shm->req[at];
	struct soft_qp *qp;
	struct inbound r;
	int index;

	r.core = core;
	r.in = in;
	r.data = req->data;
	r.received = false;
	memcpy(&r.req, req, offsetof(struct shm_req, turn));
	r.chunk = in->shm->req_chunk[r.req.chunk % SHM_CHUNKS]; /* not trusted */
	r.resp_chunk = in->shm->resp_chunk[r.req.chunk % SHM_CHUNKS];
	if (!(r.req.flags & SHM_REQ_COALESCED))
		memcpy(&r.req.compare_add, &req->compare_add, sizeof(*req) - offsetof(struct shm_req, compare_add));
	index = shm_qpn_index(core->seg, r.req.dst_qpn);
	qp = index < 0 ? NULL : core->qp[index];
	r.resp = (struct shm_resp){ .status = SHM_NOT_READY,
		                        .qp_index = r.req.qp_index,
		                        .wqe = r.req.wqe,
		                        .flags = r.req.flags,
		                        .epoch = r.req.epoch,
		                        .chunk = r.req.chunk };
	if (!qp) {
		answer(&r, NULL, &in->shm->resp[at]);
		return;
	}
	soft_lock(&qp->lock);
	r.resp.status = (uint32_t)carry_out(&r, qp);
	answer(&r, qp, &in->shm->resp[at]);
	soft_unlock(&qp->lock);
}
