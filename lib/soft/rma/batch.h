// SPDX-License-Identifier: BSD-2-Clause
/* Writes that are posted together, carried out by one system call. See batch.c. */
#ifndef SOFT_BATCH_H
#define SOFT_BATCH_H

#include <infiniband/verbs.h>

#include "soft/state/qp.h"

/*
 * Carry out the first requests of a list of some at once, two or more of them; the queue is idle.
 * Returns the first one that is not done: `wr` where there is no batch. Under qp->lock.
 */
struct ibv_send_wr *soft_batch(struct soft_qp *qp, struct ibv_send_wr *wr);

#endif
