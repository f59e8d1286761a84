// SPDX-License-Identifier: BSD-2-Clause
/* Requests on their way: the send queue, retries, answers, and requests of peers. */
#ifndef SOFT_REQUEST_H
#define SOFT_REQUEST_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/peer/pipe.h"
#include "soft/rma/direct.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

/* Carries out requests, or puts them into the pipe, as far as possible. Under qp->lock. */
void soft_pump(struct soft_qp *qp);

/*
 * Puts the next part of qp->sync_req into the pipe; the queue is empty. Returns false if the queue
 * pair has to wait for room. Under qp->lock.
 */
bool soft_sync_push(struct soft_qp *qp, const struct soft_rdma *op);

/* Returns whether data go from the requester to the responder. */
static inline bool soft_carries_data(uint32_t opcode)
{
	return opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_CMP_AND_SWP && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Coalesced writes: coalesce.c. Under qp->lock. */

enum {
	SOFT_COALESCE_MAX = 256, /* bytes of the largest coalesced write */
};

bool soft_may_coalesce(const struct soft_qp *qp, const struct soft_wqe *wqe);
/*
 * Puts the request at exec, and what is coalesced with it, into the pipe. Returns false if the
 * queue has to wait or has failed.
 */
bool soft_coalesce_push(struct soft_qp *qp);

/* Refused or unanswered requests: refuse.c. Under qp->lock. */

/* No receive was posted: retries after the peer's timer, an index of the table. */
void soft_refused_rnr(struct soft_qp *qp, uint32_t timer);
/* The peer cannot fetch the data: retries with the data in the requests. */
void soft_refused_fetch(struct soft_qp *qp);
/* The peer is not ready: retries retry_cnt times, as a NIC without an answer. */
void soft_refused_silence(struct soft_qp *qp);
/* The pipe is empty after a refusal: continues now, or after the delay. */
void soft_refused_drained(struct soft_qp *qp);

/*
 * Completes, fails or retries the request that a response is for (answer.c). Under core->progress.
 */
void soft_take_response(struct soft_core *core, struct soft_out *out, const struct shm_resp *resp);

/* Carries out a request of the ring, and answers (responder.c). Under core->progress. */
void soft_respond(struct soft_core *core, struct soft_in *in, uint32_t at);

/*
 * Unreliable connections (UC).
 *
 * DESIGN NOTES
 *
 * They are like reliable connections whose requester gets no errors. Requests take the same routes
 * and are answered, because the pipe counts answers. But any answer completes the request
 * (answer.c), and so does a peer that does not exist (requester.c) or has died (peer_events.c); the
 * queue pair's state does not change.
 *
 * The responder drops requests that a reliable one would refuse, with the rest of that message:
 * rx_drop lasts until the first part of the next message. The receive of a message that was cut off
 * or does not fit is for the next message; one of a shared queue is completed with an error. The
 * responder's queue pair fails only if a receive's memory is not registered.
 *
 * Writes are not coalesced: a refusal would not say which pieces were carried out.
 */

static inline bool soft_is_unreliable(const struct soft_qp *qp)
{
	return qp->ex.qp_base.qp_type == IBV_QPT_UC;
}

#endif
