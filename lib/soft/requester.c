// SPDX-License-Identifier: BSD-2-Clause
/*
 * The send queue moves: what is at its head is carried out directly or put into the link, responses
 * come back, refused requests are sent again, and whatever ends is completed in order.
 *
 * DESIGN NOTES tail <= exec <= head. Requests in [tail, exec) are in the link and unanswered;
 * [exec, head) wait. A direct operation runs only when tail == exec, so it is after everything
 * before it. The responder answers in order. When it refuses a request (no receive posted, or not
 * listening) it drops the queue pair's later ones too; the requester waits until all of them are
 * answered, takes exec back to tail and starts over with a marked request, as a NIC does after a
 * NAK. A message that travels in parts is one work request; only the answer to its last part
 * completes it.
 *
 * When the peer's process ends, what it did before counts, and a NIC would notice nothing until a
 * request of ours stays unanswered. So requests fail as unanswered, at once, and a queue pair
 * without any goes into the error state, which flushes its receives, only after half a second: time
 * enough for a program that was about to take its last completion.
 */
#include <string.h>
#include <sys/uio.h>

#include "adversary.h"
#include "soft.h"

enum {
	FETCH_MIN = 8192,    /* bytes: from here on the peer copies from our memory itself */
	GONE_NS = 500000000, /* a queue pair to a dead process is left alone for so long, if it asks nothing */
	RETRY_NS = 1000000,  /* between attempts to reach a queue pair that does not listen */
	RNR_INFINITE = 7,
	DISORDER_WINDOW = 16, /* requests that the adversary chooses from */
};

/* min_rnr_timer, in units of 10 us. */
static const uint32_t rnr_wait[32] = { 65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
	                                   48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
	                                   2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };

/* ---- completions ---- */

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

/* A completion for the request before sq_tail, if there is to be one. false: it was lost. */
static bool completion(struct soft_qp *qp, uint64_t wr_id, uint32_t opcode, uint32_t flags, uint64_t length,
                       enum ibv_wc_status status)
{
	struct soft_cqe cqe;

	if (status == IBV_WC_SUCCESS && !qp->sig_all && !(flags & IBV_SEND_SIGNALED))
		return true;
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

/* Complete the request at the tail. false: its completion was lost. */
static bool complete(struct soft_qp *qp, enum ibv_wc_status status)
{
	const struct soft_wqe *wqe = soft_wqe(qp, qp->sq_tail++);

	return completion(qp, wqe->wr_id, wqe->opcode, wqe->flags, wqe->length, status);
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

/* The request at the tail succeeded. */
static void send_done(struct soft_qp *qp)
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
	if (!completion(qp, wr_id, opcode, flags, length, IBV_WC_SUCCESS))
		completion_lost(qp);
}

static bool connected(enum ibv_qp_state state)
{
	return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD;
}

/* ---- refusals ---- */

static uint64_t ack_timeout_ns(const struct soft_qp *qp)
{
	return qp->attr.timeout ? 4096ull << qp->attr.timeout : 0;
}

/* Start over from the tail after `wait_ns`, when nothing is in the link any more. */
static void start_over(struct soft_qp *qp, uint64_t wait_ns)
{
	qp->sq_exec = qp->sq_tail;
	qp->part_done = 0;
	qp->resync = true;
	qp->stall = qp->inflight ? SOFT_WAIT_DRAIN : SOFT_WAIT_TIMER;
	soft_timer_set(qp, soft_now_ns() + wait_ns);
}

static void refused_rnr(struct soft_qp *qp, uint32_t timer)
{
	if (qp->attr.rnr_retry != RNR_INFINITE && qp->rnr_left-- == 0) {
		soft_send_fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	start_over(qp, rnr_wait[timer % 32] * 10000ull);
}

/* A NIC would hear nothing and try retry_cnt times more. */
static void refused_silence(struct soft_qp *qp)
{
	uint64_t now = soft_now_ns(), timeout = ack_timeout_ns(qp);

	if (qp->give_up_ns == 0)
		qp->give_up_ns = timeout ? now + timeout * (qp->attr.retry_cnt + 1u) : UINT64_MAX;
	if (now >= qp->give_up_ns || (qp->out && atomic_load(&qp->out->dead))) {
		soft_send_fail(qp, IBV_WC_RETRY_EXC_ERR);
		return;
	}
	start_over(qp, RETRY_NS);
}

/*
 * Nobody answers this queue pair any more: what it asks fails, and as long as it asks nothing it
 * does not notice.
 */
static void unanswered(struct soft_qp *qp)
{
	if (qp->sq_tail != qp->sq_head)
		soft_send_fail(qp, IBV_WC_RETRY_EXC_ERR);
	else
		qp->stall = SOFT_PEER_GONE;
}

/*
 * The peer died a while ago, or the adversary takes the path away, on which then nothing comes in
 * either.
 */
static void cut(struct soft_qp *qp)
{
	qp->cut_ns = 0;
	if (!connected(soft_qp_state(qp)))
		return;
	if (qp->stall == SOFT_PEER_GONE) {
		soft_qp_fail(qp);
		soft_async_qp(qp, IBV_EVENT_QP_FATAL);
		return;
	}
	soft_adversary_tell_cut();
	qp->lost = true;
	soft_qp_publish(qp);
	unanswered(qp);
}

SOFT_EXPORT bool softverbs_lost(uint32_t qpn)
{
	struct soft_core *core = soft_core;
	int index = soft_adversary.cut ? soft_qpn_index(core->seg, qpn) : -1;
	bool lost;

	if (index < 0)
		return false;
	pthread_mutex_lock(&core->table_lock);
	lost = core->qp[index] && core->qp[index]->lost;
	pthread_mutex_unlock(&core->table_lock);
	return lost;
}

void soft_timer_fired(struct soft_qp *qp)
{
	soft_lock(&qp->lock);
	if (qp->cut_ns && qp->cut_ns <= soft_now_ns())
		cut(qp);
	/* SOFT_WAIT_DRAIN goes on when the last response is there. */
	if (qp->stall == SOFT_WAIT_TIMER) {
		qp->stall = SOFT_GO;
		soft_pump(qp);
	}
	/* A stall's time came first: there is one timer per queue pair. */
	if (qp->cut_ns && qp->stall != SOFT_WAIT_TIMER)
		soft_timer_set(qp, qp->cut_ns);
	soft_unlock(&qp->lock);
}

/* ---- requests into the link ---- */

static bool carries_data(uint32_t opcode)
{
	return opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_CMP_AND_SWP && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
}

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
 * Large data is read by the peer from our memory, in one copy. But a write to a peer that looks
 * came here because two copies are faster (way.c): one fills a chunk while the other empties the
 * one before. What has begun in parts goes on in parts.
 */
static bool by_fetch(const struct soft_qp *qp, const struct soft_wqe *wqe)
{
	if (qp->part_done || (wqe->opcode == IBV_WR_RDMA_WRITE && soft_peer_spins(&qp->out->peer)))
		return false;
	return carries_data(wqe->opcode) && qp->out->peer_can_vm && wqe->length >= FETCH_MIN;
}

/*
 * Fill the request for the next part; its length. The first cache line last and at once: the peer
 * may be looking at it.
 */
static uint32_t fill_request(const struct soft_qp *qp, const struct soft_wqe *wqe, const struct iovec *iov,
                             struct shm_req *req, uint8_t *chunk)
{
	bool fetch = by_fetch(qp, wqe);
	uint64_t left = wqe->length - qp->part_done;
	uint32_t length = (uint32_t)(left > SHM_CHUNK && !fetch ? SHM_CHUNK : left);

	if (fetch)
		memcpy(chunk, iov, wqe->nsge * sizeof(*iov));
	else if (carries_data(wqe->opcode))
		soft_copy_out(length <= SHM_INLINE ? req->data : chunk, iov, wqe->nsge, qp->part_done, length);
	req->compare_add = wqe->compare_add;
	req->swap = wqe->swap;
	req->total = wqe->length;
	req->offset = qp->part_done;
	req->opcode = wqe->opcode;
	req->flags = part_flags(qp, wqe, length) | (fetch ? SHM_REQ_FETCH : 0);
	req->dst_qpn = qp->attr.dest_qp_num;
	req->src_qpn = qp->ex.qp_base.qp_num;
	req->imm = wqe->imm;
	req->rkey = wqe->rkey;
	req->nsge = fetch ? wqe->nsge : 0;
	req->length = length;
	req->raddr = wqe->raddr + qp->part_done;
	req->wqe = qp->sq_exec;
	req->qp_index = qp->index;
	req->epoch = qp->epoch;
	return length;
}

bool soft_out_has_room(const struct soft_out *out)
{
	return out->req_head - atomic_load_explicit(&out->resp_tail, memory_order_acquire) < SHM_RING;
}

bool soft_ring_room(struct soft_qp *qp)
{
	struct soft_out *out = qp->out;

	if (soft_out_has_room(out))
		return true;
	qp->stall = SOFT_WAIT_ROOM;
	if (soft_list_empty(&qp->waiting))
		soft_list_add_tail(&out->waiting, &qp->waiting);
	return false;
}

/* One part into the link; false if it is full, and then the queue pair waits for room. */
static bool push_part(struct soft_qp *qp, const struct soft_wqe *wqe, const struct iovec *iov)
{
	struct soft_out *out = qp->out;
	uint32_t length, at;

	soft_lock(&out->tx);
	if (!soft_ring_room(qp)) {
		soft_unlock(&out->tx);
		return false;
	}
	at = (uint32_t)(out->req_head % SHM_RING);
	length = fill_request(qp, wqe, iov, &out->shm->req[at], out->shm->req_chunk[at]);
	shm_req_publish(&out->shm->req[at], ++out->req_head);
	soft_unlock(&out->tx);
	soft_peer_notify(&out->peer);
	qp->resync = false;
	qp->inflight++;
	qp->part_done += length;
	return true;
}

/* The request at exec into the link, all its parts; false if the queue has to wait. */
static bool push(struct soft_qp *qp, struct soft_wqe *wqe)
{
	uint32_t access = carries_data(wqe->opcode) ? 0 : IBV_ACCESS_LOCAL_WRITE;
	struct iovec iov[SOFT_MAX_SGE];

	if (soft_bundle_may(qp, wqe))
		return soft_bundle_push(qp);
	if (!soft_gather(qp, wqe, access, iov)) {
		/* Its turn to fail comes when those before it are done. */
		if (!qp->inflight)
			soft_send_fail(qp, IBV_WC_LOC_PROT_ERR);
		return false;
	}
	if (!qp->inflight && wqe->opcode == IBV_WR_RDMA_WRITE && wqe->length >= SOFT_WAY_MIN) {
		qp->timed = qp->sq_exec;
		qp->timed_since = shm_ticks();
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

/* Operations on this process's own keys. */
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
		ok = soft_key_invalidate(soft_core, wqe->imm, pd->handle, qp->ex.qp_base.qp_num);
		qp->sq_exec++;
		if (!ok) {
			soft_send_fail(qp, IBV_WC_LOC_QP_OP_ERR);
			return;
		}
	}
	send_done(qp);
}

/* The request at exec on the peer's memory; everything before it is done. */
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
 * May `late` be carried out while `early`, which was posted before it, is not? A write may overtake
 * writes, where a device gives no promise about them, and, without the fence bit, reads and
 * atomics. Reads and atomics themselves find all earlier writes in place, and other requests keep
 * their order.
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

/* The adversary carries out requests behind the one at exec before it; nothing is in the link. */
static void overtake(struct soft_qp *qp)
{
	for (uint32_t i = qp->sq_exec + 1; i != qp->sq_head && i - qp->sq_exec < DISORDER_WINDOW; i++) {
		struct soft_wqe *wqe = soft_wqe(qp, i);
		enum ibv_wc_status status;

		/* What fails, or has to go by ring, does so when its turn comes. */
		if (may_come_first(qp, i) && soft_adversary_overtakes())
			wqe->placed = direct(qp, wqe, &status) == SOFT_DIRECT_DONE;
	}
}

/* The adversary makes the request at exec wait, once. */
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

/* The request at exec was tried when it was posted; nothing has been in the link since. */
static bool known_by_ring(struct soft_qp *qp)
{
	bool known = qp->by_ring_known && qp->by_ring == qp->sq_exec && !qp->inflight;

	qp->by_ring_known = false;
	return known;
}

/*
 * Writes need not wait until requests before them in the ring are answered: they come behind them
 * there. That is slow unless the peer looks, and for large ones where a system call is faster.
 */
static bool follows(const struct soft_qp *qp, const struct soft_wqe *wqe)
{
	return qp->inflight && wqe->opcode == IBV_WR_RDMA_WRITE && wqe->length > 0 && soft_peer_spins(&qp->out->peer) &&
	       (wqe->length < FETCH_MIN || soft_way_better(wqe->length) == SOFT_BY_RING);
}

/* The request at exec; false if the queue has to wait or has failed. */
static bool step(struct soft_qp *qp)
{
	struct soft_wqe *wqe = soft_wqe(qp, qp->sq_exec);
	enum ibv_wc_status status;

	if (qp->part_done)
		return push(qp, wqe);
	if (soft_adversary.disorder && qp->out && !qp->inflight && !wqe->placed)
		overtake(qp);
	if (soft_adversary.on && held_back(qp))
		return false;
	if (!qp->out) {
		refused_silence(qp);
		return false;
	}
	if (wqe->placed) {
		if (qp->inflight)
			return false;
		qp->sq_exec++;
		send_done(qp);
		return true;
	}
	if (wqe->opcode == IBV_WR_BIND_MW || wqe->opcode == IBV_WR_LOCAL_INV) {
		if (!qp->inflight)
			do_local(qp, wqe);
		return !qp->inflight;
	}
	if (wqe->flags & IBV_SEND_FENCE && qp->inflight)
		return false;
	if (wqe->length > SOFT_MAX_MSG || (needs_depth(wqe->opcode) && !qp->attr.max_rd_atomic)) {
		if (!qp->inflight)
			soft_send_fail(qp, wqe->length > SOFT_MAX_MSG ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_QP_OP_ERR);
		return false;
	}
	if (!soft_is_rdma(wqe->opcode) || follows(qp, wqe) || known_by_ring(qp))
		return push(qp, wqe);
	if (qp->inflight)
		return false;
	switch (direct(qp, wqe, &status)) {
	case SOFT_DIRECT_DONE:
		qp->sq_exec++;
		send_done(qp);
		return true;
	case SOFT_DIRECT_RING:
		return push(qp, wqe);
	case SOFT_DIRECT_ERROR:
		break;
	}
	soft_send_fail(qp, status);
	return false;
}

void soft_pump(struct soft_qp *qp)
{
	if (soft_qp_state(qp) == IBV_QPS_ERR) {
		soft_send_flush(qp);
		return;
	}
	if (qp->stall == SOFT_PEER_GONE && qp->sq_exec != qp->sq_head && soft_qp_state(qp) == IBV_QPS_RTS) {
		soft_send_fail(qp, IBV_WC_RETRY_EXC_ERR);
		return;
	}
	while (qp->sq_exec != qp->sq_head && qp->stall == SOFT_GO && soft_qp_state(qp) == IBV_QPS_RTS)
		if (!step(qp))
			return;
}

/* ---- responses ---- */

/* The data that a response brought to its place. false: the local memory is gone. */
static bool place(struct soft_qp *qp, const struct soft_wqe *wqe, const struct shm_resp *resp, const uint8_t *chunk)
{
	struct iovec iov[SOFT_MAX_SGE];

	if (carries_data(wqe->opcode))
		return true;
	if (!soft_gather(qp, wqe, IBV_ACCESS_LOCAL_WRITE, iov) || resp->length > SHM_CHUNK)
		return false;
	if (wqe->opcode == IBV_WR_RDMA_READ)
		soft_copy_in(iov, wqe->nsge, chunk, resp->offset, resp->length);
	else
		soft_copy_in(iov, wqe->nsge, &resp->value, 0, sizeof(resp->value));
	return true;
}

static void acknowledged(struct soft_qp *qp, const struct shm_resp *resp, const uint8_t *chunk)
{
	const struct soft_wqe *wqe = soft_wqe(qp, resp->wqe);

	/* The responder answers in order; anything else is a broken peer. */
	if (resp->wqe != qp->sq_tail) {
		soft_send_fail(qp, IBV_WC_BAD_RESP_ERR);
		return;
	}
	if (!place(qp, wqe, resp, chunk)) {
		soft_send_fail(qp, IBV_WC_LOC_PROT_ERR);
		return;
	}
	if (!(resp->flags & SHM_REQ_LAST))
		return;
	if (qp->timed_since && qp->timed == resp->wqe)
		soft_way_took(SOFT_BY_RING, wqe->length, resp->value - qp->timed_since);
	qp->timed_since = 0;
	send_done(qp);
}

/* Pieces of a bundle that were carried out. false: the rest of the answer says nothing. */
static bool take_pieces(struct soft_qp *qp, const struct shm_resp *resp)
{
	/* Refused as a whole, maybe because one before it was: then the tail is not this one. */
	if (resp->status != SHM_ACK && resp->length == 0)
		return true;
	if (resp->wqe != qp->sq_tail || resp->length > qp->sq_exec - qp->sq_tail) {
		soft_send_fail(qp, IBV_WC_BAD_RESP_ERR);
		return false;
	}
	for (uint32_t i = 0; i < resp->length && soft_qp_state(qp) != IBV_QPS_ERR; i++)
		send_done(qp);
	return resp->status != SHM_ACK && soft_qp_state(qp) != IBV_QPS_ERR;
}

static void take(struct soft_qp *qp, const struct shm_resp *resp, const uint8_t *chunk)
{
	if (resp->flags & SHM_REQ_BUNDLE && !take_pieces(qp, resp))
		return;
	switch ((enum shm_status)resp->status) {
	case SHM_ACK:
		acknowledged(qp, resp, chunk);
		break;
	case SHM_RNR:
		refused_rnr(qp, resp->rnr_timer);
		break;
	case SHM_NOT_READY:
		/* Only the first refusal counts; those behind it fell on the same deaf ears. */
		if (qp->stall != SOFT_WAIT_DRAIN)
			refused_silence(qp);
		break;
	case SHM_DROPPED:
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
		soft_send_fail(qp, IBV_WC_BAD_RESP_ERR);
	}
}

/* All answered after a refusal: go on now or when the time has come. */
static void drained(struct soft_qp *qp)
{
	qp->stall = soft_now_ns() >= qp->deadline_ns ? SOFT_GO : SOFT_WAIT_TIMER;
	if (qp->stall == SOFT_WAIT_TIMER)
		soft_timer_set(qp, qp->deadline_ns);
}

void soft_take_response(struct soft_core *core, struct soft_out *out, const struct shm_resp *shared,
                        const uint8_t *chunk)
{
	struct shm_resp resp = *shared;
	struct soft_qp *qp = resp.qp_index < SHM_QPS ? core->qp[resp.qp_index] : NULL;

	if (!qp)
		return;
	soft_lock(&qp->lock);
	/* Answers to what was flushed since are void. */
	if (qp->out == out && qp->epoch == resp.epoch && qp->inflight > 0) {
		qp->inflight--;
		take(qp, &resp, chunk);
		if (qp->stall == SOFT_WAIT_DRAIN && qp->inflight == 0)
			drained(qp);
		if (soft_qp_state(qp) == IBV_QPS_SQD && qp->attr.en_sqd_async_notify && qp->inflight == 0)
			soft_async_qp(qp, IBV_EVENT_SQ_DRAINED);
		soft_pump(qp);
	}
	soft_unlock(&qp->lock);
}

static void peer_gone(struct soft_qp *qp)
{
	unanswered(qp);
	if (soft_qp_state(qp) == IBV_QPS_ERR)
		return;
	qp->cut_ns = soft_now_ns() + GONE_NS;
	soft_timer_set(qp, qp->cut_ns);
}

void soft_out_died(struct soft_core *core, struct soft_out *out)
{
	for (uint32_t i = 0; i < core->qp_top; i++) {
		struct soft_qp *qp = core->qp[i];

		if (!qp)
			continue;
		soft_lock(&qp->lock);
		if (qp->out == out && connected(soft_qp_state(qp)))
			peer_gone(qp);
		soft_unlock(&qp->lock);
	}
}
