// SPDX-License-Identifier: BSD-2-Clause
/*
 * Advances the send queue: carries out the request at exec directly, or puts it into the pipe.
 * answer.c takes the responses, refuse.c retries, retire.c completes.
 *
 * DESIGN NOTES
 *
 * tail <= exec <= head. Requests in [tail, exec) are in the pipe and unanswered; those in [exec,
 * head) wait. A direct operation runs only when tail == exec, so after everything before it. The
 * responder answers in order. If it refuses a request, it also drops the queue pair's later ones.
 * When all are answered, the requester sets exec back to tail and starts over with a marked
 * request, as a NIC does after a NAK. The answer to the last part of a message completes it.
 */
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/mem/mr.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/queue/cq.h"
#include "soft/request/datagram.h"
#include "soft/request/request.h"
#include "soft/rma/copy.h"
#include "soft/rma/direct.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	FETCH_MIN = 8192, /* bytes: from this size on the peer fetches the data */
	DISORDER_WINDOW = 16,
};

/* ---- requests into the pipe ---- */

static uint32_t part_flags(const struct soft_qp *qp, const struct soft_wqe *wqe, uint32_t length)
{
	uint32_t flags = qp->resync ? SHM_REQ_RESYNC : 0;

	if (qp->part_done == 0)
		flags |= SHM_REQ_FIRST;
	if (qp->part_done + length == wqe->length)
		flags |= SHM_REQ_LAST;
	if (wqe->flags & IBV_SEND_SOLICITED)
		flags |= SHM_REQ_SOLICITED;
	if (wqe->opcode == IBV_WR_SEND_WITH_IMM || wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		flags |= SHM_REQ_IMM;
	if (wqe->opcode == IBV_WR_SEND_WITH_INV)
		flags |= SHM_REQ_INV;
	return flags;
}

/*
 * Returns whether the peer reads the message's data from this process's memory, which saves a copy.
 * A write in the ring is there because chunks are faster (proto.c). A message continues as it
 * began.
 */
static bool by_fetch(const struct soft_qp *qp, const struct soft_wqe *wqe)
{
	return !qp->part_done && wqe->opcode != IBV_WR_RDMA_WRITE && soft_carries_data(wqe->opcode) &&
	       atomic_load_explicit(&qp->out->peer_can_vm, memory_order_relaxed) && wqe->length >= FETCH_MIN;
}

static void fill_data(const struct soft_wqe *wqe, const struct iovec *iov, uint64_t from, uint32_t length,
                      uint8_t *data)
{
	if (soft_carries_data(wqe->opcode))
		soft_copy_out(data, iov, wqe->nsge, from, length);
}

/* Writes the first cache line last and in one go: the peer may be polling it. */
static void fill_request(const struct soft_wqe *wqe, uint64_t from, uint32_t length, bool fetch, struct shm_req *req)
{
	req->compare_add = wqe->compare_add;
	req->swap = wqe->swap;
	req->total = wqe->length;
	req->offset = from;
	req->opcode = wqe->opcode;
	req->imm = wqe->imm;
	req->rkey = wqe->rkey;
	req->nsge = fetch ? wqe->nsge : 0;
	req->length = length;
	req->raddr = wqe->raddr + from;
}

/* Returns false if the queue pair has to wait for room. */
static bool push_part(struct soft_qp *qp, const struct soft_wqe *wqe, const struct iovec *iov)
{
	uint64_t left = wqe->length - qp->part_done;
	bool fetch = by_fetch(qp, wqe);
	uint32_t length = (uint32_t)(left > SHM_CHUNK && !fetch ? SHM_CHUNK : left);
	uint8_t *chunk;
	struct shm_req *req = soft_pipe_begin(qp, &chunk);

	if (!req)
		return false;
	if (fetch)
		memcpy(chunk, iov, wqe->nsge * sizeof(*iov));
	else
		fill_data(wqe, iov, qp->part_done, length, length <= SHM_INLINE ? req->data : chunk);
	fill_request(wqe, qp->part_done, length, fetch, req);
	req->flags = part_flags(qp, wqe, length) | (fetch ? SHM_REQ_FETCH : 0);
	qp->part_done += length;
	soft_pipe_commit(qp, req);
	return true;
}

bool soft_sync_push(struct soft_qp *qp, const struct soft_rdma *op)
{
	const struct soft_wqe wqe = {
		.opcode = op->opcode, .raddr = op->raddr, .rkey = op->rkey, .length = op->length, .nsge = op->nsge
	};
	struct soft_sync_req *sync = &qp->sync_req;
	uint32_t length = soft_sync_part(sync, sync->sent);
	uint8_t *chunk;
	struct shm_req *req = soft_pipe_begin(qp, &chunk);

	if (!req)
		return false;
	fill_data(&wqe, op->iov, sync->sent, length, length <= SHM_INLINE ? req->data : chunk);
	fill_request(&wqe, sync->sent, length, false, req);
	req->flags = SHM_REQ_FIRST | SHM_REQ_LAST | SHM_REQ_SYNCHRONOUS | (qp->resync ? SHM_REQ_RESYNC : 0);
	sync->sent += length;
	soft_pipe_commit(qp, req);
	return true;
}

/* Puts the request at exec into the pipe. Returns false if the queue has to wait. */
static bool push(struct soft_qp *qp, struct soft_wqe *wqe)
{
	uint32_t access = soft_carries_data(wqe->opcode) ? 0 : IBV_ACCESS_LOCAL_WRITE;
	struct iovec iov[SOFT_MAX_SGE];

	if (soft_may_coalesce(qp, wqe))
		return soft_coalesce_push(qp);
	if (!soft_gather(qp, wqe, access, iov)) {
		/* It fails in its turn. */
		if (!qp->inflight)
			soft_send_fail(qp, IBV_WC_LOC_PROT_ERR);
		return false;
	}
	do {
		if (!push_part(qp, wqe, iov))
			return false;
	} while (qp->part_done < wqe->length);
	qp->part_done = 0;
	qp->sq_exec++;
	return true;
}

/* ---- the pump ---- */

static bool needs_depth(uint32_t opcode)
{
	return soft_is_rdma(opcode) && opcode != IBV_WR_RDMA_WRITE;
}

static bool is_local(const struct soft_wqe *wqe)
{
	return wqe->opcode == IBV_WR_BIND_MW || wqe->opcode == IBV_WR_LOCAL_INV;
}

static void do_local(struct soft_qp *qp, const struct soft_wqe *wqe)
{
	struct ibv_pd *pd = qp->ex.qp_base.pd;
	bool ok;

	if (wqe->opcode == IBV_WR_BIND_MW) {
		ok = soft_mw_bind(qp, wqe->mw, wqe->rkey, &wqe->bind) == 0;
		qp->sq_exec++;
		if (!ok) {
			soft_send_fail(qp, IBV_WC_MW_BIND_ERR);
			return;
		}
	} else {
		ok = soft_mw_invalidate(soft_core, wqe->imm, pd->handle, qp->ex.qp_base.qp_num);
		qp->sq_exec++;
		if (!ok) {
			soft_send_fail(qp, IBV_WC_LOC_QP_OP_ERR);
			return;
		}
	}
	soft_send_done(qp);
}

/* Carries out the request at exec on the peer's memory; all requests before it are complete. */
static enum soft_direct direct(struct soft_qp *qp, const struct soft_wqe *wqe, enum ibv_wc_status *status)
{
	struct iovec iov[SOFT_MAX_SGE];
	struct soft_rdma op = { .opcode = wqe->opcode,
		                    .nsge = wqe->nsge,
		                    .rkey = wqe->rkey,
		                    .raddr = wqe->raddr,
		                    .length = wqe->length,
		                    .compare_add = wqe->compare_add,
		                    .swap = wqe->swap,
		                    .iov = iov };

	if (soft_gather(qp, wqe, wqe->opcode == IBV_WR_RDMA_WRITE ? 0 : IBV_ACCESS_LOCAL_WRITE, iov))
		return soft_direct(qp, &op, status);
	*status = IBV_WC_LOC_PROT_ERR;
	return SOFT_DIRECT_ERROR;
}

/*
 * Returns whether `late` may be carried out before `early`. A write may overtake writes, whose
 * order a device does not guarantee, and, without the fence bit, reads and atomics.
 */
static bool may_overtake(const struct soft_wqe *late, const struct soft_wqe *early)
{
	if (late->opcode != IBV_WR_RDMA_WRITE || late->length > SOFT_MAX_MSG || !soft_is_rdma(early->opcode))
		return false;
	return early->opcode == IBV_WR_RDMA_WRITE || !(late->flags & IBV_SEND_FENCE);
}

static bool may_come_first(const struct soft_qp *qp, uint32_t index)
{
	for (uint32_t i = qp->sq_exec; i != index; i++)
		if (!soft_wqe(qp, i)->placed && !may_overtake(soft_wqe(qp, index), soft_wqe(qp, i)))
			return false;
	return !soft_wqe(qp, index)->placed;
}

static void overtake(struct soft_qp *qp)
{
	for (uint32_t i = qp->sq_exec + 1; i != qp->sq_head && i - qp->sq_exec < DISORDER_WINDOW; i++) {
		struct soft_wqe *wqe = soft_wqe(qp, i);
		enum ibv_wc_status status;

		/* A request that fails, or goes by ring, keeps its turn. */
		if (may_come_first(qp, i) && soft_adversary_overtakes())
			wqe->placed = direct(qp, wqe, &status) == SOFT_DIRECT_DONE;
	}
}

static bool held_back(struct soft_qp *qp)
{
	uint64_t ns = qp->delayed ? 0 : soft_adversary_delay();

	qp->delayed = ns != 0;
	if (!ns)
		return false;
	qp->stall = SOFT_WAIT_TIMER;
	soft_timer_set(qp, soft_now_ns() + ns);
	return true;
}

static bool known_by_ring(struct soft_qp *qp)
{
	bool known = qp->by_ring_known && qp->by_ring == qp->sq_exec && !qp->inflight;

	qp->by_ring_known = false;
	return known;
}

/*
 * Returns whether a write goes into the ring behind unanswered requests, which is slow unless the
 * peer polls, and for large ones.
 */
static bool follows(const struct soft_qp *qp, const struct soft_wqe *wqe)
{
	return qp->inflight && wqe->opcode == IBV_WR_RDMA_WRITE && wqe->length > 0 && wqe->length < FETCH_MIN &&
	       soft_peer_spins(&qp->out->peer);
}

/*
 * For a queue pair without a pipe: waits for the awaited process's answer or death. If no process
 * owns the peer's number, the request gets no answer; returns true if that completes it.
 */
static bool not_connected(struct soft_qp *qp)
{
	if (qp->awaited && !atomic_load(&qp->awaited->answered))
		qp->stall = SOFT_WAIT_PEER;
	else if (soft_is_unreliable(qp))
		return true;
	else
		soft_refused_silence(qp);
	return false;
}

static bool step_without(struct soft_qp *qp)
{
	if (!not_connected(qp))
		return false;
	qp->sq_exec++;
	soft_send_done(qp);
	return true;
}

/* Carries out the request at exec. Returns false if the queue has to wait or has failed. */
static bool step(struct soft_qp *qp)
{
	struct soft_wqe *wqe = soft_wqe(qp, qp->sq_exec);
	enum ibv_wc_status status;

	/* The rest of a message follows its first parts. */
	if (qp->part_done)
		return push(qp, wqe);
	if (soft_adversary.disorder && qp->out && !qp->inflight && !wqe->placed)
		overtake(qp);
	if (soft_adversary.on && held_back(qp))
		return false;
	if (qp->routes)
		return soft_datagram_step(qp, wqe);
	/* Own keys change only when no request that may use them is in flight. */
	if (is_local(wqe)) {
		if (!qp->inflight)
			do_local(qp, wqe);
		return !qp->inflight;
	}
	if (!qp->out)
		return step_without(qp);
	/* It completes when those before it are answered. */
	if (wqe->placed) {
		if (qp->inflight)
			return false;
		qp->sq_exec++;
		soft_send_done(qp);
		return true;
	}
	/* The fence waits for everything in flight. */
	if (wqe->flags & IBV_SEND_FENCE && qp->inflight)
		return false;
	/* It fails in its turn. */
	if (wqe->length > SOFT_MAX_MSG || (needs_depth(wqe->opcode) && !qp->attr.max_rd_atomic)) {
		if (!qp->inflight)
			soft_send_fail(qp, wqe->length > SOFT_MAX_MSG ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_QP_OP_ERR);
		return false;
	}
	/* The ring keeps order: a request for it waits for room only. */
	if (!soft_is_rdma(wqe->opcode) || follows(qp, wqe) || known_by_ring(qp))
		return push(qp, wqe);
	/* Direct operations wait until all requests before them are answered. */
	if (qp->inflight)
		return false;
	switch (direct(qp, wqe, &status)) {
	case SOFT_DIRECT_DONE:
		qp->sq_exec++;
		soft_send_done(qp);
		return true;
	case SOFT_DIRECT_RING:
	case SOFT_DIRECT_SYNC:
		return push(qp, wqe);
	case SOFT_DIRECT_ERROR:
		break;
	}
	if (soft_is_unreliable(qp) && status == IBV_WC_REM_OP_ERR) { /* not reported to the sender */
		qp->sq_exec++;
		soft_send_done(qp);
		return true;
	}
	soft_send_fail(qp, status);
	return false;
}

/* Ends the request at exec when the peer is gone; nothing is in flight. */
static void step_gone(struct soft_qp *qp)
{
	const struct soft_wqe *wqe = soft_wqe(qp, qp->sq_exec);

	if (is_local(wqe)) {
		do_local(qp, wqe);
	} else if (soft_is_unreliable(qp)) {
		qp->sq_exec++;
		soft_send_done(qp);
	} else {
		soft_send_fail(qp, IBV_WC_RETRY_EXC_ERR);
	}
}

void soft_pump(struct soft_qp *qp)
{
	if (soft_qp_state(qp) == IBV_QPS_ERR) {
		soft_send_flush(qp);
		return;
	}
	while (qp->stall == SOFT_PEER_GONE && qp->sq_exec != qp->sq_head && soft_qp_state(qp) == IBV_QPS_RTS)
		step_gone(qp);
	while (qp->sq_exec != qp->sq_head && qp->stall == SOFT_GO && soft_qp_state(qp) == IBV_QPS_RTS)
		if (!step(qp))
			return;
}
