// SPDX-License-Identifier: BSD-2-Clause
/* The ranges of a receive that a message fills. */
#ifndef SOFT_RECEIVE_H
#define SOFT_RECEIVE_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/mem/key.h"
#include "soft/state/qp.h"

/*
 * Stores the ranges that `length` bytes fill in the receive in qp->rx. As with a NIC, a range may
 * be longer than its region if no byte is written there. Returns IBV_WC_SUCCESS or an error.
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
