// SPDX-License-Identifier: BSD-2-Clause
/* The send queue moves. See requester.c. */
#ifndef SOFT_REQUESTER_H
#define SOFT_REQUESTER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/verbs/direct.h"
#include "soft/verbs/qp.h"

/* Under qp->lock: carry out or put into the pipe what can be. */
void soft_pump(struct soft_qp *qp);

/*
 * Under qp->lock, with nothing in the queue: the next part of the synchronous request (qp->sync_req)
 * into the pipe. false: there is no room in it, and the queue pair waits for that.
 */
bool soft_sync_push(struct soft_qp *qp, const struct soft_rdma *op);

/* Do bytes go from the requester to the responder? */
static inline bool soft_carries_data(uint32_t opcode)
{
	return opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_CMP_AND_SWP && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
}

#endif
