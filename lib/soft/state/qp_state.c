// SPDX-License-Identifier: BSD-2-Clause
/*
 * The queue pair state machine: InfiniBand specification, volume 1, table "QP State Transition
 * Properties", as in ibv_modify_qp(3).
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "soft/base/base.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

struct transition {
	enum ibv_qp_state from, to;
	int required, optional;
};

enum {
	ON_CONNECT = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS,
	ON_READY = IBV_QP_CUR_STATE | ON_CONNECT | IBV_QP_PATH_MIG_STATE,
	ON_READY_RC = ON_READY | IBV_QP_MIN_RNR_TIMER,
	ON_READY_UD = IBV_QP_CUR_STATE | IBV_QP_QKEY,
	TO_INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	TO_INIT_UD = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
	TO_RTR = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
};

static const struct transition reliable[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, TO_INIT },
	{ IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	  ON_CONNECT | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_RTR, IBV_QPS_RTS,
	  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC, ON_READY_RC },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, ON_READY_RC },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0, ON_READY_RC },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0,
	  ON_READY_RC | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	      IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC },
};

static const struct transition unreliable[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, TO_INIT },
	{ IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR, ON_CONNECT | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, ON_READY },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, ON_READY },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0, ON_READY },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0, ON_READY | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV },
};

static const struct transition datagram[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT_UD, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, TO_INIT_UD },
	{ IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, ON_READY_UD },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, ON_READY_UD },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0, ON_READY_UD },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
};

enum {
	RELIABLE = sizeof(reliable) / sizeof(reliable[0]),
	UNRELIABLE = sizeof(unreliable) / sizeof(unreliable[0]),
	DATAGRAM = sizeof(datagram) / sizeof(datagram[0]),
};

static int check(const struct transition *table, int n, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	for (int i = 0; i < n; i++) {
		if (table[i].from != from || table[i].to != to)
			continue;
		if ((mask & table[i].required) != table[i].required)
			return EINVAL;
		return mask & ~(table[i].required | table[i].optional) ? EINVAL : 0;
	}
	return EINVAL;
}

int soft_qp_check_modify(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	mask &= ~IBV_QP_STATE;
	/* Every state leads to these two, without attributes. */
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return mask & ~IBV_QP_CUR_STATE ? EINVAL : 0;
	if (type == IBV_QPT_UD)
		return check(datagram, DATAGRAM, from, to, mask);
	if (type == IBV_QPT_UC)
		return check(unreliable, UNRELIABLE, from, to, mask);
	return check(reliable, RELIABLE, from, to, mask);
}

void soft_qp_publish(struct soft_qp *qp)
{
	enum ibv_qp_state state = soft_qp_state(qp);
	unsigned int access = qp->attr.qp_access_flags;
	uint32_t gate = 0;

	/* Without a pipe no thread could wait until the peer is idle. */
	if (qp->peer && !qp->unheard && soft_qp_connected(state)) {
		gate = SHM_GATE_OPEN | (qp->attr.dest_qp_num & SHM_GATE_QPN);
		gate |= access & IBV_ACCESS_REMOTE_WRITE ? SHM_GATE_WRITE : 0;
		gate |= access & IBV_ACCESS_REMOTE_READ ? SHM_GATE_READ : 0;
		gate |= access & IBV_ACCESS_REMOTE_ATOMIC ? SHM_GATE_ATOMIC : 0;
		gate |= qp->attr.max_dest_rd_atomic ? SHM_GATE_RD_RES : 0;
		qp->peer_idle = false;
	}
	shm_gate_store(qp->shm, gate);
}

void soft_qp_set_state(struct soft_qp *qp, enum ibv_qp_state state)
{
	atomic_store_explicit(&qp->state, (uint32_t)state, memory_order_relaxed);
	qp->ex.qp_base.state = state;
	soft_qp_publish(qp);
}

/* Rings of waiting receives. */

int soft_rq_init(struct soft_rq *rq, uint32_t wr, uint32_t sge)
{
	memset(rq, 0, sizeof(*rq));
	rq->limit = wr;
	rq->max_sge = sge;
	if (wr == 0)
		return 0;
	rq->size = soft_pow2(wr);
	rq->stride = sizeof(struct soft_rwqe) + sge * sizeof(struct ibv_sge);
	rq->ring = malloc(rq->size * rq->stride);
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
