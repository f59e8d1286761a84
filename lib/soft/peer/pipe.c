// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places for requests in the pipe to a peer. A queue pair that finds no room waits in the pipe's
 * list; the thread that takes the next responses resumes it (progress.c).
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

/* Returns whether there is room, for which the queue pair waits otherwise. Under out->tx. */
static bool has_room(struct soft_qp *qp)
{
	struct soft_out *out = qp->out;

	if (soft_out_has_room(out))
		return true;
	qp->stall = SOFT_WAIT_ROOM;
	if (soft_list_empty(&qp->waiting))
		soft_list_add_tail(&out->waiting, &qp->waiting);
	return false;
}

struct shm_req *soft_pipe_begin(struct soft_qp *qp, uint8_t **chunk)
{
	struct soft_out *out = qp->out;

	soft_lock(&out->tx);
	if (!has_room(qp)) {
		soft_unlock(&out->tx);
		return NULL;
	}
	out->chunk = soft_out_chunk(out);
	*chunk = out->shm->req_chunk[out->chunk];
	return &out->shm->req[out->req_head % SHM_RING];
}

void soft_pipe_commit(struct soft_qp *qp, struct shm_req *req)
{
	struct soft_out *out = qp->out;

	req->dst_qpn = qp->attr.dest_qp_num;
	req->src_qpn = qp->ex.qp_base.qp_num;
	req->wqe = qp->sq_exec;
	req->qp_index = qp->index;
	req->epoch = qp->epoch;
	req->chunk = out->chunk;
	shm_req_publish(req, ++out->req_head);
	soft_unlock(&out->tx);
	soft_peer_notify(&out->peer);
	qp->resync = false;
	qp->inflight++;
}

void soft_pipe_cancel(struct soft_qp *qp)
{
	soft_unlock(&qp->out->tx);
}

/*
 * Repeated notification of peers that owe an answer. A peer with polling threads is not woken for a
 * request. But they may have just stopped, and the engine checks only now and then (engine.c). So
 * the waiting thread wakes the engine, at intervals that double.
 */

enum {
	INTERVAL_NS = 100000, /* before the first wakeup; doubles with each one */
	INTERVAL_MAX_NS = 1000000,
};

static bool owes(struct soft_out *out, uint64_t answered)
{
	bool some;

	soft_lock(&out->tx);
	some = out->req_head != answered;
	soft_unlock(&out->tx);
	return some;
}

static void renotify(struct soft_out *out, uint64_t now)
{
	uint64_t answered = atomic_load_explicit(&out->resp_tail, memory_order_relaxed);
	struct soft_renotify_timer *timer = &out->renotify_timer;
	bool waits = owes(out, answered);

	if (!waits || !timer->waits || answered != timer->answered) {
		*timer = (struct soft_renotify_timer){ waits, answered, now + INTERVAL_NS, INTERVAL_NS };
		return;
	}
	if (now < timer->wakeup_ns)
		return;
	soft_peer_wake(&out->peer);
	timer->interval_ns = timer->interval_ns < INTERVAL_MAX_NS ? 2 * timer->interval_ns : INTERVAL_MAX_NS;
	timer->wakeup_ns = now + timer->interval_ns;
}

void soft_renotify(struct soft_core *core)
{
	uint64_t now = soft_now_ns();

	if (!soft_trylock(&core->progress))
		return;
	for (uint32_t i = 0; i < core->nout; i++)
		if (atomic_load(&core->out[i]->answered) && !atomic_load(&core->out[i]->dead))
			renotify(core->out[i], now);
	soft_unlock(&core->progress);
}
