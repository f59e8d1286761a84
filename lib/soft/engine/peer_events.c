// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events of a peer, and their effect on queue pairs: its pipe is answered (pipes.c), its process
 * dies, or the adversary cuts the connection.
 *
 * DESIGN NOTES
 *
 * Operations of the peer before its death count. Requests fail immediately, as unanswered. A queue
 * pair without requests enters the error state, which flushes its receives, after half a second, so
 * that a program can take its last completion.
 */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/engine/engine.h"
#include "soft/peer/pipe.h"
#include "soft/queue/cq.h"
#include "soft/request/datagram.h"
#include "soft/request/request.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	DEAD_PEER_NS = 500000000, /* delay of the error state after a death, without requests */
};

/* ---- the peer is found, or answers ---- */

bool soft_attach_pipe(struct soft_qp *qp, struct soft_out *out)
{
	int index = out ? shm_qpn_index(out->peer.seg, qp->attr.dest_qp_num) : -1;

	/* The withdrawal of a key (key.c) reads these of all queue pairs. */
	pthread_mutex_lock(&soft_core->table_lock);
	soft_qp_set_out(qp, index < 0 ? NULL : out);
	qp->peer = index < 0 ? NULL : &out->peer.seg->qp[index];
	pthread_mutex_unlock(&soft_core->table_lock);
	return index >= 0;
}

static void answered(struct soft_qp *qp, struct soft_out *out)
{
	if (soft_attach_pipe(qp, out))
		qp->awaited = NULL;
	/* Opens the gate, which needs a pipe. */
	soft_qp_publish(qp);
	if (qp->stall == SOFT_WAIT_PEER)
		qp->stall = SOFT_GO;
	soft_pump(qp);
}

void soft_out_answered(struct soft_core *core, struct soft_out *out)
{
	for (uint32_t i = 0; i < core->qp_top; i++) {
		struct soft_qp *qp = core->qp[i];

		if (!qp)
			continue;
		soft_lock(&qp->lock);
		if (qp->awaited == out)
			answered(qp, out);
		else if (qp->routes && soft_datagram_answered(qp, out))
			soft_pump(qp);
		soft_unlock(&qp->lock);
	}
}

/* ---- it dies, or is cut off ---- */

/*
 * Fails the queue pair's requests, waiting ones in their turn (step_gone in requester.c), but not
 * in SQD, and not those on own keys.
 */
static void unanswered(struct soft_qp *qp)
{
	if (soft_is_unreliable(qp))
		soft_send_lose(qp);
	else if (qp->sq_tail != qp->sq_exec || qp->part_done)
		soft_send_fail(qp, IBV_WC_RETRY_EXC_ERR);
	if (soft_qp_state(qp) == IBV_QPS_ERR)
		return;
	qp->stall = SOFT_PEER_GONE;
	soft_pump(qp);
}

/* The peer died a while ago, or the adversary cuts the path. */
static void cut(struct soft_qp *qp)
{
	qp->cut_ns = 0;
	if (!soft_qp_connected(soft_qp_state(qp)))
		return;
	if (qp->stall == SOFT_PEER_GONE && soft_is_unreliable(qp))
		return;
	if (qp->stall == SOFT_PEER_GONE) {
		soft_qp_fail(qp);
		soft_async_qp(qp, IBV_EVENT_QP_FATAL);
		return;
	}
	soft_adversary_tell_cut();
	qp->unheard = true;
	soft_qp_publish(qp);
	unanswered(qp);
}

SOFT_EXPORT bool softverbs_lost(uint32_t qpn)
{
	struct soft_core *core = soft_core;
	int index = soft_adversary.cut ? shm_qpn_index(core->seg, qpn) : -1;
	bool lost;

	if (index < 0)
		return false;
	pthread_mutex_lock(&core->table_lock);
	lost = core->qp[index] && core->qp[index]->unheard && !core->qp[index]->routes;
	pthread_mutex_unlock(&core->table_lock);
	return lost;
}

void soft_timer_fired(struct soft_qp *qp)
{
	soft_lock(&qp->lock);
	if (qp->cut_ns && qp->cut_ns <= soft_now_ns())
		cut(qp);
	/* SOFT_WAIT_DRAIN ends with the last response. */
	if (qp->stall == SOFT_WAIT_TIMER) {
		qp->stall = SOFT_GO;
		soft_pump(qp);
	}
	if (qp->routes && soft_datagram_late(qp))
		soft_pump(qp);
	/* A queue pair has one timer; a stall's time came first. */
	if (qp->cut_ns && qp->stall != SOFT_WAIT_TIMER)
		soft_timer_set(qp, qp->cut_ns);
	soft_unlock(&qp->lock);
}

static void peer_died(struct soft_qp *qp)
{
	unanswered(qp);
	if (soft_qp_state(qp) == IBV_QPS_ERR || soft_is_unreliable(qp))
		return;
	qp->cut_ns = soft_now_ns() + DEAD_PEER_NS;
	soft_timer_set(qp, qp->cut_ns);
}

void soft_out_died(struct soft_core *core, struct soft_out *out)
{
	for (uint32_t i = 0; i < core->qp_top; i++) {
		struct soft_qp *qp = core->qp[i];

		if (!qp)
			continue;
		soft_lock(&qp->lock);
		if ((qp->out == out || qp->awaited == out) && soft_qp_connected(soft_qp_state(qp)))
			peer_died(qp);
		else if (qp->routes && soft_datagram_died(qp, out))
			soft_pump(qp);
		soft_unlock(&qp->lock);
	}
}
