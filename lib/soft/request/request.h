// SPDX-License-Identifier: BSD-2-Clause
/* Requests on their way: advancing the send queue, retries, answers, and requests of peers. */
#ifndef SOFT_REQUEST_H
#define SOFT_REQUEST_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/peer/pipe.h"
#include "soft/rma/direct.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

/* Carries out requests or puts them into the pipe, as far as possible. Under qp->lock. */
void soft_pump(struct soft_qp *qp);

/*
 * Puts the next part of the synchronous request (qp->sync_req) into the pipe; the queue is empty.
 * Returns false if the pipe is full; the queue pair then waits for room. Under qp->lock.
 */
bool soft_sync_push(struct soft_qp *qp, const struct soft_rdma *op);

/* Returns whether data goes from the requester to the responder. */
static inline bool soft_carries_data(uint32_t opcode)
{
	return opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_CMP_AND_SWP && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Small writes that travel together. Under qp->lock. See coalesce.c. */

enum {
	SOFT_COALESCE_MAX = 256, /* bytes of a write that travels with others */
};

/* May this request travel with others? */
bool soft_may_coalesce(const struct soft_qp *qp, const struct soft_wqe *wqe);
/*
 * The request at exec, and what may go with it, into the pipe; false if the queue has to wait or
 * has failed.
 */
bool soft_coalesce_push(struct soft_qp *qp);

/* Requests that were refused or not answered: refuse.c. All under qp->lock. */

/* No receive was posted: retries after the peer's timer, an index of the table. */
void soft_refused_rnr(struct soft_qp *qp, uint32_t timer);
/* The peer cannot fetch the data: retries immediately, with the data in the requests. */
void soft_refused_fetch(struct soft_qp *qp);
/* The peer is not ready: retries retry_cnt times, as a NIC without an answer. */
void soft_refused_silence(struct soft_qp *qp);
/* After a refusal, when the pipe is empty: continues now, or after the delay. */
void soft_refused_drained(struct soft_qp *qp);

/* Responses: answer.c. */

/* Completes, fails or retries the request that a response is for. Under core->progress. */
void soft_take_response(struct soft_core *core, struct soft_out *out, const struct shm_resp *resp);

/* Requests of peers: responder.c. */

/* Carries out the request at a place of the ring, and answers. Under core->progress. */
void soft_respond(struct soft_core *core, struct soft_in *in, uint32_t at);

/*
 * Unreliable connections (UC).
 *
 * DESIGN NOTES
 *
 * They are like reliable connections whose requester gets no errors. Requests take the same routes,
 * directly or through the pipe, and are answered, because the pipe counts answers. But any answer
 * completes the request (answer.c), and so does a peer that does not exist (requester.c) or has
 * died (peer_events.c); the queue pair's state does not change.
 *
 * The responder drops requests that a reliable one would refuse, with the rest of that message:
 * rx_drop lasts until the first part of the next message, not until the requester starts over. The
 * receive of a message that was cut off, or that is too small, is for the next message; one of a
 * shared queue is completed with an error. The responder's queue pair fails only by its own error:
 * a receive whose memory is not registered.
 *
 * Their writes are not coalesced: the answer to a coalesced request says which of its pieces were
 * carried out, and a refusal would not. A stopped peer delays completions, as for a reliable
 * connection.
 */

static inline bool soft_is_unreliable(const struct soft_qp *qp)
{
	return qp->ex.qp_base.qp_type == IBV_QPT_UC;
}

#endif
