// SPDX-License-Identifier: BSD-2-Clause
/*
 * softverbs_move: RDMA that is over when the call returns.
 *
 * DESIGN NOTES What a NIC cannot do: where one system call moves the data, a completion only tells
 * what the caller could have known. Posting and polling take more than a thousand instructions,
 * which after a system call are all cold. Here the same checks are made and the same copy, and
 * there is nothing to wait for. The order is that of the queue, since nothing may be in it. Large
 * writes that a polling peer would carry out sooner than a system call go by the queue (way.c), and so
 * does everything in adversary mode.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/extension.h"
#include "soft/verbs/adversary.h"
#include "soft/verbs/direct.h"
#include "soft/verbs/export.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/qp.h"

SOFT_EXPORT int softverbs_move(struct ibv_qp *base, uint32_t rkey, uint64_t addr, void *here, size_t size_bytes,
                               bool write)
{
	struct iovec iov = { here, size_bytes };
	struct soft_rdma op = { .opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
		                    .nsge = 1,
		                    .rkey = rkey,
		                    .raddr = addr,
		                    .length = size_bytes,
		                    .waits = true,
		                    .iov = &iov };
	struct soft_qp *qp = soft_qp(base);
	enum ibv_wc_status status;
	bool done;

	if (soft_adversary.on)
		return EOPNOTSUPP;
	soft_lock(&qp->lock);
	done = soft_qp_idle(qp) && (write || qp->attr.max_rd_atomic) && soft_direct(qp, &op, &status) == SOFT_DIRECT_DONE;
	soft_unlock(&qp->lock);
	return done ? 0 : EOPNOTSUPP;
}
