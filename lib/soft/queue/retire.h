// SPDX-License-Identifier: BSD-2-Clause
/* Completion of requests. All under qp->lock. */
#ifndef SOFT_RETIRE_H
#define SOFT_RETIRE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/queue/cq.h"
#include "soft/state/qp.h"

/* Completes the request at the tail. */
void soft_send_done(struct soft_qp *qp);
/* Completes a direct operation that was never queued: it counts as posted and complete. */
void soft_send_done_at_once(struct soft_qp *qp, uint64_t wr_id, uint32_t opcode, uint32_t flags, uint64_t length);
/* Fails the request at the tail, and the queue pair. */
void soft_send_fail(struct soft_qp *qp, enum ibv_wc_status status);
/* Completes the requests in flight of an unreliable connection, which may have been lost. */
void soft_send_lose(struct soft_qp *qp);
/* Flushes the send queue. */
void soft_send_flush(struct soft_qp *qp);
/* Completes the receive in qp->rx. */
void soft_recv_done(struct soft_qp *qp, struct soft_cqe *cqe, bool solicited);
/* Enters the error state and flushes all requests. */
void soft_qp_fail(struct soft_qp *qp);
/* Empties the send queue, resets the responder to the start of a message, voids late responses. */
void soft_qp_restart(struct soft_qp *qp);

#endif
