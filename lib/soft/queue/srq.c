// SPDX-License-Identifier: BSD-2-Clause
/* Shared receive queues, and the source of a queue pair's receives. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/mem/mr.h"
#include "soft/queue/srq.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

/* Raises SRQ_LIMIT_REACHED if it is due, once per arming. Under srq->lock. */
static void check_limit(struct soft_srq *srq)
{
	struct ibv_async_event event = { .element.srq = &srq->base, .event_type = IBV_EVENT_SRQ_LIMIT_REACHED };

	if (srq->limit_event == 0 || srq->rq.head - srq->rq.tail >= srq->limit_event)
		return;
	srq->limit_event = 0;
	soft_async_raise(srq->base.context, &event, &srq->async_raised);
}

bool soft_rq_take(struct soft_qp *qp)
{
	struct soft_srq *srq;
	bool found;

	if (!qp->ex.qp_base.srq)
		return soft_rq_pop(&qp->rq, &qp->rx);
	srq = soft_srq(qp->ex.qp_base.srq);
	soft_lock(&srq->lock);
	found = soft_rq_pop(&srq->rq, &qp->rx);
	if (found)
		check_limit(srq);
	soft_unlock(&srq->lock);
	return found;
}

SOFT_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct soft_srq *srq;

	if (soft_call_fails(__func__)) {
		errno = ENOMEM;
		return NULL;
	}
	if (init->attr.max_wr == 0 || init->attr.max_wr > SOFT_MAX_WR || init->attr.max_sge > SOFT_MAX_SGE) {
		errno = EINVAL;
		return NULL;
	}
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	if (soft_rq_init(&srq->rq, init->attr.max_wr, init->attr.max_sge) != 0) {
		free(srq);
		errno = ENOMEM;
		return NULL;
	}
	srq->base.context = pd->context;
	srq->base.pd = pd;
	srq->base.srq_context = init->srq_context;
	srq->base.handle = atomic_fetch_add(&soft_core->object_serial, 1);
	pthread_mutex_init(&srq->base.mutex, NULL);
	pthread_cond_init(&srq->base.cond, NULL);
	atomic_fetch_add(&soft_pd(pd)->users, 1);
	return &srq->base;
}

SOFT_EXPORT int ibv_destroy_srq(struct ibv_srq *base)
{
	struct soft_srq *srq = soft_srq(base);

	if (atomic_load(&srq->users) != 0)
		return soft_result(EBUSY);
	soft_async_await(&base->mutex, &base->cond, &base->events_completed,
	                 soft_async_forget(base->context, srq, &srq->async_raised));
	atomic_fetch_sub(&soft_pd(base->pd)->users, 1);
	pthread_mutex_destroy(&base->mutex);
	pthread_cond_destroy(&base->cond);
	soft_rq_fini(&srq->rq);
	free(srq);
	return 0;
}

/* Keeps waiting receives. Under srq->lock. */
static int resize(struct soft_rq *rq, uint32_t wr)
{
	uint32_t n = rq->head - rq->tail;
	struct soft_rq bigger;

	if (wr < n || wr == 0 || wr > SOFT_MAX_WR)
		return EINVAL;
	if (soft_rq_init(&bigger, wr, rq->max_sge) != 0)
		return ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		memcpy(soft_rwqe(&bigger, i), soft_rwqe(rq, rq->tail + i), rq->stride);
	bigger.head = n;
	soft_rq_fini(rq);
	*rq = bigger;
	return 0;
}

SOFT_EXPORT int ibv_modify_srq(struct ibv_srq *base, struct ibv_srq_attr *attr, int mask)
{
	struct soft_srq *srq = soft_srq(base);
	int err = 0;

	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return soft_result(EINVAL);
	soft_lock(&srq->lock);
	if (mask & IBV_SRQ_LIMIT && attr->srq_limit > (mask & IBV_SRQ_MAX_WR ? attr->max_wr : srq->rq.limit))
		err = EINVAL;
	if (!err && mask & IBV_SRQ_MAX_WR)
		err = resize(&srq->rq, attr->max_wr);
	if (!err && mask & IBV_SRQ_LIMIT) {
		srq->limit_event = attr->srq_limit;
		check_limit(srq);
	}
	soft_unlock(&srq->lock);
	return soft_result(err);
}

SOFT_EXPORT int ibv_query_srq(struct ibv_srq *base, struct ibv_srq_attr *attr)
{
	struct soft_srq *srq = soft_srq(base);

	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	soft_lock(&srq->lock);
	attr->max_wr = srq->rq.limit;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit_event;
	soft_unlock(&srq->lock);
	return 0;
}

int soft_post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_srq *srq = soft_srq(base);
	int err = 0;

	if (soft_call_fails(__func__)) {
		*bad = wr;
		return ENOMEM;
	}
	soft_lock(&srq->lock);
	for (; wr; wr = wr->next) {
		err = soft_rq_put(&srq->rq, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	soft_unlock(&srq->lock);
	return err;
}
