// SPDX-License-Identifier: BSD-2-Clause
/* Advancing the send queue. See requester.c. */
#ifndef SOFT_REQUESTER_H
#define SOFT_REQUESTER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/rma/direct.h"
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

#endif
