// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes the peer's responses to this process's requests. Under core->progress. The peer can write
 * their memory, so each is copied before it is read. It is trusted to say whether a request is
 * complete, but only of requests that are in flight and await an answer. Any other response fails
 * the queue pair. Between two answers, an empty pipe means tail == exec.
 */
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/base/base.h"
#include "soft/peer/pipe.h"
#include "soft/queue/cq.h"
#include "soft/request/request.h"
#include "soft/rma/copy.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

/* Returns false if the local memory is gone. */
static bool place(struct soft_qp *qp, const struct soft_wqe *wqe, const struct shm_resp *resp, const uint8_t *chunk)
{
	struct iovec iov[SOFT_MAX_SGE];

	if (soft_carries_data(wqe->opcode))
		return true;
	if (!soft_gather(qp, wqe, IBV_ACCESS_LOCAL_WRITE, iov) || resp->length > SHM_CHUNK)
		return false;
	if (wqe->opcode == IBV_WR_RDMA_READ)
		soft_copy_in(iov, wqe->nsge, chunk, resp->offset, resp->length);
	else
		soft_copy_in(iov, wqe->nsge, &resp->value, 0, sizeof(resp->value));
	return true;
}

/* Fails the first request, if there is one, and the queue pair. */
static void broken(struct soft_qp *qp)
{
	if (qp->sq_tail != qp->sq_head) {
		soft_send_fail(qp, IBV_WC_BAD_RESP_ERR);
		return;
	}
	soft_qp_fail(qp);
	soft_async_qp(qp, IBV_EVENT_QP_FATAL);
}

/* Returns whether this request, or a part of it, is in the pipe; a refused one is not. */
static bool under_way(const struct soft_qp *qp, uint32_t wqe)
{
	return wqe - qp->sq_tail < qp->sq_exec - qp->sq_tail + (qp->part_done > 0);
}

static void acknowledged(struct soft_qp *qp, const struct shm_resp *resp, const uint8_t *chunk)
{
	const struct soft_wqe *wqe = soft_wqe(qp, resp->wqe);
	bool last = resp->flags & SHM_REQ_LAST;

	/* A correct peer answers in order, and to a last part only after it was sent. */
	if (resp->wqe != qp->sq_tail || (last && qp->sq_tail == qp->sq_exec)) {
		broken(qp);
		return;
	}
	if (!place(qp, wqe, resp, chunk)) {
		soft_send_fail(qp, IBV_WC_LOC_PROT_ERR);
		return;
	}
	if (last)
		soft_send_done(qp);
}

/*
 * Returns whether the first `count` requests, and one more if `refused`, may have been coalesced.
 */
static bool are_pieces(const struct soft_qp *qp, uint32_t count, bool refused)
{
	if (count + refused > qp->sq_exec - qp->sq_tail)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct soft_wqe *wqe = soft_wqe(qp, qp->sq_tail + i);

		if (wqe->opcode != IBV_WR_RDMA_WRITE || wqe->length > qp->coalesce_max)
			return false;
	}
	return true;
}

/* Completes the pieces that were carried out. Returns false if that ends the answer. */
static bool take_pieces(struct soft_qp *qp, const struct shm_resp *resp)
{
	bool refused = resp->status != SHM_ACK;

	/* Refused as a whole; after an earlier refusal this is not the tail. */
	if (refused && resp->length == 0)
		return true;
	if (resp->wqe != qp->sq_tail || resp->length > SHM_CHUNK || !are_pieces(qp, resp->length, refused)) {
		broken(qp);
		return false;
	}
	for (uint32_t i = 0; i < resp->length && soft_qp_state(qp) != IBV_QPS_ERR; i++)
		soft_send_done(qp);
	return refused && soft_qp_state(qp) != IBV_QPS_ERR;
}

/* A peer that refuses a synchronous request has failed: it answers no later request. */
static void note_failure(struct soft_sync_req *sync, uint32_t status)
{
	if (status == SHM_NAK_INV_REQ || status == SHM_NAK_ACCESS || status == SHM_NAK_OP)
		sync->failure = status;
}

/*
 * Takes the answer to a synchronous request, unless its caller (move.c) has given up. The caller's
 * next request gets the error.
 */
static void take_sync(struct soft_qp *qp, const struct shm_resp *resp, const uint8_t *chunk)
{
	struct soft_sync_req *sync = &qp->sync_req;
	uint64_t part;

	note_failure(sync, resp->status);
	if (soft_sync_load(sync) != SOFT_SYNC_PENDING)
		return;
	part = soft_sync_part(sync, sync->answered);
	if (resp->status != SHM_ACK || (sync->here && resp->length != part)) {
		soft_sync_store(sync, SOFT_SYNC_REFUSED);
		return;
	}
	if (part > sync->sent - sync->answered) {
		broken(qp);
		return;
	}
	if (sync->here)
		soft_copy(sync->here + sync->answered, chunk, part);
	sync->answered += part;
	if (sync->answered == sync->length)
		soft_sync_store(sync, SOFT_SYNC_DONE);
	else
		soft_sync_count(sync);
}

static enum shm_status reason(const struct soft_qp *qp, const struct shm_resp *resp)
{
	return (enum shm_status)(resp->status == SHM_NOT_READY && qp->sync_req.failure ? qp->sync_req.failure
	                                                                               : resp->status);
}

static void refused(struct soft_qp *qp, const struct shm_resp *resp)
{
	switch (reason(qp, resp)) {
	case SHM_RNR:
		soft_refused_rnr(qp, resp->rnr_timer);
		break;
	case SHM_NOT_READY:
	case SHM_DROPPED:
		/*
		 * Only the first refusal counts. A peer that drops the first request was connected anew,
		 * and accepts a requester that starts over.
		 */
		if (qp->stall != SOFT_WAIT_DRAIN)
			soft_refused_silence(qp);
		break;
	case SHM_NO_FETCH:
		soft_refused_fetch(qp);
		break;
	case SHM_NAK_INV_REQ:
		soft_send_fail(qp, IBV_WC_REM_INV_REQ_ERR);
		break;
	case SHM_NAK_ACCESS:
		soft_send_fail(qp, IBV_WC_REM_ACCESS_ERR);
		break;
	case SHM_NAK_OP:
		soft_send_fail(qp, IBV_WC_REM_OP_ERR);
		break;
	default:
		broken(qp);
	}
}

static void take(struct soft_qp *qp, const struct shm_resp *resp, const uint8_t *chunk)
{
	bool behind_refused = qp->stall == SOFT_WAIT_DRAIN && resp->status != SHM_ACK;

	if (!behind_refused && !under_way(qp, resp->wqe)) {
		broken(qp);
		return;
	}
	if (resp->flags & SHM_REQ_COALESCED && !take_pieces(qp, resp))
		return;
	/* On an unreliable connection every answer is an acknowledgement. */
	if (resp->status == SHM_ACK || soft_is_unreliable(qp))
		acknowledged(qp, resp, chunk);
	else
		refused(qp, resp);
}

void soft_take_response(struct soft_core *core, struct soft_out *out, const struct shm_resp *shared)
{
	struct shm_resp resp = *shared;
	const uint8_t *chunk = out->shm->resp_chunk[resp.chunk % SHM_CHUNKS]; /* not trusted */
	struct soft_qp *qp = resp.qp_index < SHM_QPS ? core->qp[resp.qp_index] : NULL;

	if (!qp)
		return;
	soft_lock(&qp->lock);
	/* It could until now: the program may have become undumpable, or changed its user. */
	if (resp.status == SHM_NO_FETCH)
		atomic_store_explicit(&out->peer_can_vm, false, memory_order_relaxed);
	/* Answers to requests that were flushed since are void. */
	if (qp->out == out && qp->epoch == resp.epoch && qp->inflight > 0) {
		qp->inflight--;
		if (resp.flags & SHM_REQ_SYNCHRONOUS)
			take_sync(qp, &resp, chunk);
		else
			take(qp, &resp, chunk);
		if (qp->inflight == 0 && qp->sq_tail != qp->sq_exec)
			broken(qp);
		if (qp->stall == SOFT_WAIT_DRAIN && qp->inflight == 0)
			soft_refused_drained(qp);
		if (soft_qp_state(qp) == IBV_QPS_SQD && qp->attr.en_sqd_async_notify && qp->inflight == 0)
			soft_async_qp(qp, IBV_EVENT_SQ_DRAINED);
		soft_pump(qp);
	}
	soft_unlock(&qp->lock);
}
