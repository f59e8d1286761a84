// SPDX-License-Identifier: BSD-2-Clause
/* How requests end. All under qp->lock. */
#ifndef SOFT_RETIRE_H
#define SOFT_RETIRE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/verbs/cq.h"
#include "soft/verbs/qp.h"

/* The request at the tail succeeded. */
void soft_send_done(struct soft_qp *qp);
/* A direct operation that was not even queued succeeded: it counts as posted and done. */
void soft_send_done_at_once(struct soft_qp *qp, uint64_t wr_id, uint32_t opcode, uint32_t flags, uint64_t length);
/* The request at the tail fails, and with it the queue pair. */
void soft_send_fail(struct soft_qp *qp, enum ibv_wc_status status);
/* What is under way is done, or lost on the way, which an unreliable connection does not tell from it. */
void soft_send_lose(struct soft_qp *qp);
/* Everything in the send queue is flushed. */
void soft_send_flush(struct soft_qp *qp);
/* A completion of the receive in qp->rx. */
void soft_recv_done(struct soft_qp *qp, struct soft_cqe *cqe, bool solicited);
/* To the error state, everything flushed. */
void soft_qp_fail(struct soft_qp *qp);
/* The send queue is empty, the responder at the start of a message, late responses are void. */
void soft_qp_restart(struct soft_qp *qp);

#endif
