// SPDX-License-Identifier: BSD-2-Clause
/* Shared receive queues. */
#ifndef SOFT_SRQ_H
#define SOFT_SRQ_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/lock.h"
#include "soft/state/qp.h"
#include "soft/state/rq.h"

struct soft_srq {
	struct ibv_srq base;
	struct soft_lock lock;
	struct soft_rq rq;
	uint32_t limit_event;  /* raise SRQ_LIMIT_REACHED below this many; 0: not armed */
	uint32_t async_raised; /* events that were queued; under the context's event lock */
	_Atomic uint32_t users;
};

static inline struct soft_srq *soft_srq(struct ibv_srq *srq)
{
	return (struct soft_srq *)srq;
}

/*
 * Takes the next receive of a queue pair, from its own or the shared queue, into qp->rx. Returns
 * false if there is none. Under qp->lock.
 */
bool soft_rq_take(struct soft_qp *qp);
int soft_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
