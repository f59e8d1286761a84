// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places for requests in the pipe to a peer. A queue pair that finds no room waits in the pipe's
 * list; the thread that takes the next responses resumes it (progress.c).
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/list.h"
#include "soft/base/lock.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
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
