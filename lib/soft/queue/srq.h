// SPDX-License-Identifier: BSD-2-Clause
/* Shared receive queues, and the receives of messages. */
#ifndef SOFT_SRQ_H
#define SOFT_SRQ_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/base/base.h"
#include "soft/mem/key.h"
#include "soft/state/qp.h"

struct soft_srq {
	struct ibv_srq base;
	struct soft_lock lock;
	struct soft_rq rq;
	uint32_t limit_event;  /* raise SRQ_LIMIT_REACHED below this many; 0: not armed */
	uint32_t async_raised; /* queued events; under the context's event lock */
	_Atomic uint32_t users;
};

static inline struct soft_srq *soft_srq(struct ibv_srq *srq)
{
	return (struct soft_srq *)srq;
}

/*
 * Takes a queue pair's next receive, own or shared, into qp->rx. Returns false if there is none.
 * Under qp->lock.
 */
bool soft_rq_take(struct soft_qp *qp);
int soft_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/*
 * Stores the ranges that `length` bytes fill in the receive in qp->rx. Only the part of a range
 * that is filled must be registered. Returns IBV_WC_SUCCESS or an error.
 */
static inline enum ibv_wc_status soft_receive_ranges(const struct soft_qp *qp, uint64_t length, struct iovec *iov)
{
	struct ibv_pd *pd = qp->ex.qp_base.srq ? qp->ex.qp_base.srq->pd : qp->ex.qp_base.pd;
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	for (uint32_t i = 0; i < qp->rx.nsge; i++) {
		const struct ibv_sge *sge = &qp->rx.sge[i];

		iov[i].iov_len = sge->length < length ? sge->length : length;
		iov[i].iov_base = NULL;
		length -= iov[i].iov_len;
		if (iov[i].iov_len == 0)
			continue;
		iov[i].iov_base = soft_key_local(sge->lkey, pd->handle, sge->addr, iov[i].iov_len, IBV_ACCESS_LOCAL_WRITE);
		if (!iov[i].iov_base)
			status = IBV_WC_LOC_PROT_ERR;
	}
	return length ? IBV_WC_LOC_LEN_ERR : status;
}

#endif
