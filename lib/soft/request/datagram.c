// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unreliable datagrams, the sender's side: from the send queue into the pipe to the process that
 * owns the number.
 *
 * DESIGN NOTES
 *
 * A datagram is a request marked SHM_REQ_DATAGRAM. It is complete as soon as it is in the pipe, or
 * lost. The responder delivers or drops it (datagram.c), and answers in both cases, because the
 * ring counts answers. The answer names no queue pair (SHM_NO_QP) and is ignored. So no datagram is
 * in flight, and tail == exec.
 *
 * A queue pair has no peer. The posting thread looks up the pipe to a request's number
 * (datagram_post.c), and stores it by slot (soft_routes.out). The functions here use stored pipes
 * only: a request whose number has none is lost.
 *
 * If a pipe is full, or its process has not answered yet, the queue waits, LIMIT_NS at most:
 *
 *   SOFT_GO
 *   SOFT_WAIT_ROOM   in the list of a full pipe; the thread that takes answers resumes the queue
 *   SOFT_WAIT_PEER   for the answer of a process, or while a thread looks up a route (lookups)
 *   deaf             a pipe for which a queue has waited too long: while it is full, or not
 *                    answered, datagrams to it are lost immediately
 *
 * When a pipe dies, queues that wait for it continue (peer_events.c), datagrams to it are lost, and
 * queue pairs drop their references to it.
 *
 * All of soft_routes is written under qp->lock. `deaf` is a hint: a thread that has waited sets it,
 * and one that finds room clears it.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/queue/cq.h"
#include "soft/queue/srq.h"
#include "soft/request/datagram.h"
#include "soft/rma/copy.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	LIMIT_NS = 1000000000, /* limit of a wait for room, or for an answer */
	DISORDER_WINDOW = 16,
};

#define OWN_QKEY 0x80000000u /* in a work request's key: use the queue pair's own */

struct datagram {
	uint32_t opcode, flags, imm;
	uint32_t qpn, qkey; /* of the receiver */
	uint32_t nsge;
	uint64_t length; /* bytes, all ranges */
	const struct shm_address *address;
	struct shm_header header;
	const struct iovec *iov; /* checked */
};

/* ---- into the pipe ---- */

static bool is_datagram(uint32_t opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

static uint32_t flags_of(const struct datagram *d)
{
	uint32_t flags = SHM_REQ_DATAGRAM | SHM_REQ_FIRST | SHM_REQ_LAST;

	if (d->flags & IBV_SEND_SOLICITED)
		flags |= SHM_REQ_SOLICITED;
	return d->opcode == IBV_WR_SEND_WITH_IMM ? flags | SHM_REQ_IMM : flags;
}

/* Writes the first cache line last and in one go: the peer may be polling it. */
static void fill(const struct soft_qp *qp, const struct datagram *d, struct shm_req *req, uint8_t *chunk)
{
	uint32_t length = (uint32_t)d->length;

	soft_copy_out(length <= SHM_INLINE ? req->data : chunk, d->iov, d->nsge, 0, length);
	req->address = *d->address;
	req->opcode = d->opcode;
	req->flags = flags_of(d);
	req->dst_qpn = d->qpn;
	req->src_qpn = qp->ex.qp_base.qp_num;
	req->imm = d->imm;
	req->rkey = d->qkey & OWN_QKEY ? qp->attr.qkey : d->qkey;
	req->nsge = 0;
	req->length = length;
	req->header = d->header;
	req->wqe = 0;
	req->qp_index = SHM_NO_QP;
	req->epoch = 0;
}

/* Under out->tx. */
static void publish(const struct soft_qp *qp, struct soft_out *out, const struct datagram *d)
{
	struct shm_req *req = &out->shm->req[out->req_head % SHM_RING];
	uint32_t chunk = soft_out_chunk(out);

	fill(qp, d, req, out->shm->req_chunk[chunk]);
	req->chunk = chunk;
	shm_req_publish(req, ++out->req_head);
}

static bool is_deaf(struct soft_out *out)
{
	return atomic_load_explicit(&out->deaf, memory_order_relaxed);
}

static void set_deaf(struct soft_out *out, bool deaf)
{
	if (is_deaf(out) != deaf)
		atomic_store_explicit(&out->deaf, deaf, memory_order_relaxed);
}

/* Makes the queue wait for this pipe. A timer that is set already is early enough. */
static void stall(struct soft_qp *qp, struct soft_out *out, enum soft_stall why)
{
	qp->stall = why;
	qp->routes->stalled_on = out;
	qp->routes->since_ns = soft_now_ns();
	soft_timer_set_if_none(qp, qp->routes->since_ns + LIMIT_NS);
}

/*
 * Returns false if there is no room; with `wait` the queue then waits, unless the pipe is deaf and
 * the datagram lost. out->tx puts the queue into the list before the next answer is taken.
 */
static bool push(struct soft_qp *qp, struct soft_out *out, const struct datagram *d, bool wait)
{
	bool room, lost;

	soft_lock(&out->tx);
	room = soft_out_has_room(out);
	lost = !room && is_deaf(out);
	if (room)
		publish(qp, out, d);
	else if (wait && !lost && soft_list_empty(&qp->waiting))
		soft_list_add_tail(&out->waiting, &qp->waiting);
	soft_unlock(&out->tx);
	if (room) {
		soft_peer_notify(&out->peer);
		set_deaf(out, false);
	} else if (wait && !lost) {
		stall(qp, out, SOFT_WAIT_ROOM);
	}
	return room || lost;
}

/* ---- the queue ---- */

void soft_datagram_address(struct soft_wqe *wqe, const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	wqe->address = soft_ah(ah)->address;
	wqe->header = soft_ah(ah)->header;
	wqe->rkey = qpn;
	wqe->qkey = qkey;
}

/* Returns the pipe to a number, or NULL if it has to be awaited. */
static struct soft_out *ready_route(const struct soft_qp *qp, uint32_t qpn)
{
	struct soft_out *out = soft_route_to(qp->routes, qpn);

	return out && atomic_load_explicit(&out->answered, memory_order_acquire) ? out : NULL;
}

static bool posted_ranges(const struct soft_qp *qp, const struct ibv_send_wr *wr, uint64_t length, struct iovec *iov)
{
	if (!(wr->send_flags & IBV_SEND_INLINE))
		return soft_ranges(qp, wr->sg_list, (uint32_t)wr->num_sge, 0, iov);
	for (int i = 0; i < wr->num_sge; i++) {
		iov[i].iov_base = (void *)(uintptr_t)wr->sg_list[i].addr;
		iov[i].iov_len = wr->sg_list[i].length;
	}
	return length <= qp->attr.cap.max_inline_data;
}

/* Returns whether the request may take the fast path. */
static bool may_be_at_once(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	return !soft_adversary.on && qp->sq_exec == qp->sq_head && qp->stall == SOFT_GO &&
	       soft_qp_state(qp) == IBV_QPS_RTS && is_datagram(wr->opcode) && wr->wr.ud.ah && wr->num_sge >= 0 &&
	       (uint32_t)wr->num_sge <= qp->attr.cap.max_send_sge && soft_sq_room(qp, qp->sq_head);
}

bool soft_datagram_at_once(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	struct soft_out *out = may_be_at_once(qp, wr) ? ready_route(qp, wr->wr.ud.remote_qpn) : NULL;
	struct iovec iov[SOFT_MAX_SGE];
	struct datagram d = { .opcode = wr->opcode,
		                  .flags = wr->send_flags,
		                  .imm = wr->imm_data,
		                  .qpn = wr->wr.ud.remote_qpn,
		                  .qkey = wr->wr.ud.remote_qkey,
		                  .nsge = (uint32_t)wr->num_sge,
		                  .iov = iov };

	if (!out)
		return false;
	d.address = &soft_ah(wr->wr.ud.ah)->address;
	d.header = soft_ah(wr->wr.ud.ah)->header;
	for (int i = 0; i < wr->num_sge; i++)
		d.length += wr->sg_list[i].length;
	if (d.length > SOFT_DATAGRAM_BYTES || !posted_ranges(qp, wr, d.length, iov) || !push(qp, out, &d, false))
		return false;
	soft_send_done_at_once(qp, wr->wr_id, wr->opcode, wr->send_flags, d.length);
	return true;
}

/* Sends or loses an element's datagram. Returns false if the queue must wait, or it fails. */
static bool try_send(struct soft_qp *qp, const struct soft_wqe *wqe, bool wait, bool *fails)
{
	struct soft_out *out = soft_route_to(qp->routes, wqe->rkey);
	struct iovec iov[SOFT_MAX_SGE];
	const struct datagram d = { .opcode = wqe->opcode,
		                        .flags = wqe->flags,
		                        .imm = wqe->imm,
		                        .qpn = wqe->rkey,
		                        .qkey = wqe->qkey,
		                        .nsge = wqe->nsge,
		                        .length = wqe->length,
		                        .address = &wqe->address,
		                        .header = wqe->header,
		                        .iov = iov };

	*fails = !soft_gather(qp, wqe, 0, iov);
	if (*fails)
		return false;
	if (!out || d.length > SOFT_DATAGRAM_BYTES || (soft_adversary.on && soft_adversary_loses()))
		return true;
	if (atomic_load_explicit(&out->answered, memory_order_acquire))
		return push(qp, out, &d, wait);
	if (is_deaf(out))
		return true;
	if (wait)
		stall(qp, out, SOFT_WAIT_PEER);
	return false;
}

static void overtake(struct soft_qp *qp)
{
	for (uint32_t i = qp->sq_exec + 1; i != qp->sq_head && i - qp->sq_exec < DISORDER_WINDOW; i++) {
		struct soft_wqe *wqe = soft_wqe(qp, i);
		bool fails;

		/* A request that fails, or must wait, keeps its turn. */
		if (!wqe->placed && is_datagram(wqe->opcode) && soft_adversary_overtakes())
			wqe->placed = try_send(qp, wqe, false, &fails);
	}
}

bool soft_datagram_step(struct soft_qp *qp, struct soft_wqe *wqe)
{
	bool fails;

	if (qp->routes->lookups) {
		qp->routes->stalled_on = NULL;
		qp->stall = SOFT_WAIT_PEER;
		return false;
	}
	if (!is_datagram(wqe->opcode)) {
		soft_send_fail(qp, IBV_WC_LOC_QP_OP_ERR);
		return false;
	}
	if (soft_adversary.disorder && !wqe->placed)
		overtake(qp);
	if (!wqe->placed && !try_send(qp, wqe, true, &fails)) {
		if (fails)
			soft_send_fail(qp, IBV_WC_LOC_PROT_ERR);
		return false;
	}
	qp->sq_exec++;
	soft_send_done(qp);
	return true;
}

/* ---- the end of a wait ---- */

void soft_datagram_calm(struct soft_qp *qp)
{
	struct soft_out *out = qp->routes->stalled_on;

	qp->routes->stalled_on = NULL;
	if (!out)
		return;
	soft_lock(&out->tx);
	soft_list_del(&qp->waiting);
	soft_unlock(&out->tx);
}

static bool go_on(struct soft_qp *qp)
{
	soft_datagram_calm(qp);
	qp->stall = SOFT_GO;
	return true;
}

bool soft_datagram_routed(struct soft_qp *qp)
{
	return qp->stall == SOFT_WAIT_PEER && !qp->routes->stalled_on && !qp->routes->lookups && go_on(qp);
}

bool soft_datagram_answered(struct soft_qp *qp, const struct soft_out *out)
{
	return qp->routes->stalled_on == out && go_on(qp);
}

bool soft_datagram_died(struct soft_qp *qp, struct soft_out *out)
{
	bool goes_on = soft_datagram_answered(qp, out);

	for (uint32_t i = 0; i < SHM_SLOT_NUMBERS; i++) {
		if (qp->routes->out[i] != out)
			continue;
		qp->routes->out[i] = NULL;
		/* Never the last reference. */
		atomic_fetch_sub(&out->refs, 1);
	}
	return goes_on;
}

bool soft_datagram_late(struct soft_qp *qp)
{
	struct soft_routes *routes = qp->routes;

	if (!routes->stalled_on || (qp->stall != SOFT_WAIT_ROOM && qp->stall != SOFT_WAIT_PEER))
		return false;
	if (soft_now_ns() < routes->since_ns + LIMIT_NS) {
		soft_timer_set_if_none(qp, routes->since_ns + LIMIT_NS);
		return false;
	}
	set_deaf(routes->stalled_on, true);
	return go_on(qp);
}

void soft_datagram_forked(struct soft_qp *qp)
{
	memset(qp->routes, 0, sizeof(*qp->routes));
}

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
