// SPDX-License-Identifier: BSD-2-Clause
/* RDMA by the posting thread: direct.c, and batch.c for several writes. */
#ifndef SOFT_DIRECT_H
#define SOFT_DIRECT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/mem/key.h"
#include "soft/state/qp.h"

struct iovec;

struct soft_rdma {
	uint32_t opcode;
	uint32_t nsge;
	uint32_t rkey;
	uint64_t raddr;
	uint64_t length; /* bytes, all ranges */
	uint64_t compare_add, swap;
	bool waits;              /* the caller waits for this operation only */
	const struct iovec *iov; /* local ranges, checked */
};

enum soft_direct {
	SOFT_DIRECT_DONE,
	SOFT_DIRECT_RING,  /* no access, or a refusal that the peer must know */
	SOFT_DIRECT_SYNC,  /* `waits`: the peer polls and is faster; a synchronous request is legal */
	SOFT_DIRECT_ERROR, /* *status has the error */
};

/*
 * Between these two calls the caller is busy: the peer's memory keys stay valid. Returns false if
 * the peer accepts no such requests. Under qp->lock; all requests before it are complete.
 */
bool soft_direct_begin(struct soft_qp *qp, uint32_t opcode);
void soft_direct_end(struct soft_qp *qp);

/*
 * Returns whether a posted write to private memory of the peer is legal and goes by system call;
 * *there is its address in the peer. The caller is busy.
 */
bool soft_direct_by_call(struct soft_qp *qp, struct soft_span span, uint64_t *there);

/*
 * Returns whether a span of the peer's memory is private and a system call reaches it, at *there.
 * The caller is busy.
 */
bool soft_direct_reaches(struct soft_qp *qp, struct soft_span span, uint32_t access, uint64_t *there);

/* Under qp->lock; all requests before it are complete. */
enum soft_direct soft_direct(struct soft_qp *qp, const struct soft_rdma *op, enum ibv_wc_status *status);

static inline bool soft_is_write(const struct soft_rdma *op)
{
	return op->opcode == IBV_WR_RDMA_WRITE;
}

static inline bool soft_is_rdma(uint32_t opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/*
 * Carries out the first requests of a list together, two or more; the queue is idle. Returns the
 * first one that is not done. Under qp->lock.
 */
struct ibv_send_wr *soft_batch(struct soft_qp *qp, struct ibv_send_wr *wr);

#endif
