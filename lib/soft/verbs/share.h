// SPDX-License-Identifier: BSD-2-Clause
/* Large writes and reads that both sides carry out. See share.c. */
#ifndef SOFT_SHARE_H
#define SOFT_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/extension.h"
#include "soft/verbs/direct.h"
#include "soft/verbs/pipe.h"
#include "soft/verbs/shm.h"

struct soft_core;

/*
 * Carry out a large write or read of the peer's memory under `mr`, which is at `at` here. False: it is to be done as
 * others are. The caller may, and is busy; under qp->lock.
 */
bool soft_share_large(struct soft_qp *qp, const struct soft_rdma *op, const struct shm_mr *mr, void *at);
/* The same for memory that is not mapped, where both are to do it; it is to be timed. */
bool soft_share_private(struct soft_qp *qp, const struct soft_rdma *op, const struct shm_mr *mr, bool timed);

static inline bool soft_share_mapped(struct soft_qp *qp, const struct soft_rdma *op, const struct shm_mr *mr, void *at)
{
	return op->length >= SOFTVERBS_SHARE_MIN && soft_share_large(qp, op, mr, at);
}

/* Do what is open of a peer's. Under core->progress. */
void soft_share_help(struct soft_core *core, struct soft_in *in);

#endif
