// SPDX-License-Identifier: BSD-2-Clause
/* Rings of waiting receives. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "soft/base/base.h"
#include "soft/state/qp.h"

int soft_rq_init(struct soft_rq *rq, uint32_t wr, uint32_t sge)
{
	memset(rq, 0, sizeof(*rq));
	rq->limit = wr;
	rq->max_sge = sge;
	if (wr == 0)
		return 0;
	rq->size = soft_pow2(wr);
	rq->stride = sizeof(struct soft_rwqe) + sge * sizeof(struct ibv_sge);
	rq->ring = calloc(rq->size, rq->stride);
	return rq->ring ? 0 : ENOMEM;
}

void soft_rq_fini(struct soft_rq *rq)
{
	free(rq->ring);
	rq->ring = NULL;
}

int soft_rq_put(struct soft_rq *rq, const struct ibv_recv_wr *wr)
{
	struct soft_rwqe *rwqe;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	if (rq->head - rq->tail >= rq->limit)
		return ENOMEM;
	rwqe = soft_rwqe(rq, rq->head);
	rwqe->wr_id = wr->wr_id;
	rwqe->nsge = (uint32_t)wr->num_sge;
	for (uint32_t i = 0; i < rwqe->nsge; i++)
		rwqe->sge[i] = wr->sg_list[i];
	rq->head++;
	return 0;
}

bool soft_rq_pop(struct soft_rq *rq, struct soft_rx *rx)
{
	const struct soft_rwqe *rwqe;

	if (rq->head == rq->tail)
		return false;
	rwqe = soft_rwqe(rq, rq->tail++);
	rx->wr_id = rwqe->wr_id;
	rx->nsge = rwqe->nsge;
	memcpy(rx->sge, rwqe->sge, rwqe->nsge * sizeof(rwqe->sge[0]));
	return true;
}
