// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs: creation, modification, query and destruction. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/base/memory.h"
#include "soft/engine/engine.h"
#include "soft/mem/key.h"
#include "soft/mem/mr.h"
#include "soft/peer/pipe.h"
#include "soft/post/post.h"
#include "soft/queue/cq.h"
#include "soft/queue/srq.h"
#include "soft/request/datagram.h"
#include "soft/request/request.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	MAX_5BIT = 31, /* timers */
	MAX_3BIT = 7,  /* retry counters */
	KNOWN_ATTRS = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS,
	SEND_OPS_UD = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
	SEND_OPS_UC = SEND_OPS_UD | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
	              IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW,
	SEND_OPS = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
	           IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
	           IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |
	           IBV_QP_EX_WITH_SEND_WITH_INV,
};

/* Ranges and inline data share memory. */
_Static_assert(SOFT_MAX_SGE * sizeof(struct ibv_sge) <= SOFT_MAX_INLINE, "no more inline data than there may be");

/* ---- creation ---- */

static uint64_t send_ops_of(enum ibv_qp_type type)
{
	return type == IBV_QPT_UD ? SEND_OPS_UD : type == IBV_QPT_UC ? SEND_OPS_UC : SEND_OPS;
}

static int check_init(const struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_qp_cap *cap = &attr->cap;

	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UC && attr->qp_type != IBV_QPT_UD)
		return EOPNOTSUPP;
	if (attr->comp_mask & ~(uint32_t)KNOWN_ATTRS)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags != 0)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS && attr->send_ops_flags & ~send_ops_of(attr->qp_type))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd || !attr->send_cq || !attr->recv_cq)
		return EINVAL;
	if (cap->max_send_wr > SOFT_MAX_WR || cap->max_send_sge > SOFT_MAX_SGE || cap->max_inline_data > SOFT_MAX_INLINE)
		return EINVAL;
	if (!attr->srq && (cap->max_recv_wr > SOFT_MAX_WR || cap->max_recv_sge > SOFT_MAX_SGE))
		return EINVAL;
	return 0;
}

/* Inline data fit into the ranges' memory, requested or not. */
static void grant_inline(struct ibv_qp_cap *cap)
{
	uint32_t ranges = cap->max_send_sge * (uint32_t)sizeof(struct ibv_sge);

	if (cap->max_inline_data < ranges)
		cap->max_inline_data = ranges;
}

static int sq_init(struct soft_qp *qp, const struct ibv_qp_cap *cap)
{
	qp->sq_size = cap->max_send_wr ? soft_pow2(cap->max_send_wr) : 0;
	qp->sq_stride = (sizeof(struct soft_wqe) + cap->max_inline_data + 63) / 64 * 64;
	if (qp->sq_size == 0)
		return 0;
	qp->sq = aligned_alloc(64, qp->sq_size * qp->sq_stride);
	return qp->sq ? 0 : ENOMEM;
}

/*
 * Finds a free place in the segment's table, or takes another block of numbers. Under table_lock.
 */
static int find_index(struct soft_core *core, uint32_t *index)
{
	uint32_t owned = atomic_load(&core->seg->slots) * SHM_QPS_PER_SLOT;

	for (uint32_t i = 0; i < owned; i++) {
		*index = (core->qp_hint + i) % owned;
		if (!core->qp[*index])
			return 0;
	}
	*index = owned;
	return soft_slot_take(core);
}

static int qp_insert(struct soft_core *core, struct soft_qp *qp)
{
	int err;

	pthread_mutex_lock(&core->table_lock);
	err = find_index(core, &qp->index);
	if (!err && qp->index == core->qp_top)
		err = soft_memory_grow(core->seg_fd, offsetof(struct shm_segment, qp), sizeof(struct shm_qp), qp->index);
	if (!err) {
		core->qp_hint = qp->index + 1;
		if (core->qp_top == qp->index)
			core->qp_top = qp->index + 1;
		qp->shm = &core->seg->qp[qp->index];
		qp->shm->pd = qp->ex.qp_base.pd->handle;
		shm_busy_leave(qp->shm);
		shm_gate_store(qp->shm, 0);
		qp->ex.qp_base.qp_num = shm_qpn(core->seg, qp->index);
		core->qp[qp->index] = qp;
	}
	pthread_mutex_unlock(&core->table_lock);
	return err;
}

static void fill_base(struct soft_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *base = &qp->ex.qp_base;

	base->context = attr->pd->context;
	base->qp_context = attr->qp_context;
	base->pd = attr->pd;
	base->send_cq = attr->send_cq;
	base->recv_cq = attr->recv_cq;
	base->srq = attr->srq;
	base->qp_type = attr->qp_type;
	base->state = IBV_QPS_RESET;
	base->handle = atomic_fetch_add(&soft_core->object_serial, 1);
	pthread_mutex_init(&base->mutex, NULL);
	pthread_cond_init(&base->cond, NULL);
	qp->last_opcode = soft_is_unreliable(qp) ? IBV_WR_BIND_MW : IBV_WR_SEND_WITH_INV;
	qp->coalesce_max = soft_is_unreliable(qp) ? 0 : SOFT_COALESCE_MAX;
	qp->sig_all = attr->sq_sig_all;
	qp->epoch = base->handle;
	soft_list_init(&qp->timer);
	soft_list_init(&qp->waiting);
	memcpy(&qp->init, attr, sizeof(qp->init));
	qp->attr.cap = attr->cap;
}

static int routes_init(struct soft_qp *qp)
{
	if (qp->ex.qp_base.qp_type != IBV_QPT_UD)
		return 0;
	qp->routes = calloc(1, sizeof(*qp->routes));
	qp->unheard = true;
	return qp->routes ? 0 : ENOMEM;
}

static void count_users(const struct ibv_qp *qp, int by)
{
	atomic_fetch_add(&soft_pd(qp->pd)->users, (uint32_t)by);
	atomic_fetch_add(&soft_cq(qp->send_cq)->users, (uint32_t)by);
	atomic_fetch_add(&soft_cq(qp->recv_cq)->users, (uint32_t)by);
	if (qp->srq)
		atomic_fetch_add(&soft_srq(qp->srq)->users, (uint32_t)by);
}

static void qp_free(struct soft_qp *qp)
{
	pthread_mutex_destroy(&qp->ex.qp_base.mutex);
	pthread_cond_destroy(&qp->ex.qp_base.cond);
	soft_rq_fini(&qp->rq);
	soft_routes_free(qp->routes);
	free(qp->sq);
	free(qp);
}

struct ibv_qp *soft_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct soft_qp *qp;
	int err = soft_call_fails(__func__) ? ENOMEM : check_init(attr);

	(void)context;
	if (err) {
		errno = err;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	if (attr->srq)
		attr->cap.max_recv_wr = attr->cap.max_recv_sge = 0;
	grant_inline(&attr->cap);
	fill_base(qp, attr);
	err = sq_init(qp, &attr->cap);
	if (!err)
		err = routes_init(qp);
	if (!err)
		err = soft_rq_init(&qp->rq, attr->cap.max_recv_wr, attr->cap.max_recv_sge);
	if (!err)
		err = qp_insert(soft_core, qp);
	if (err) {
		qp_free(qp);
		errno = err;
		return NULL;
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		qp->has_ex = true;
		qp->send_ops = attr->send_ops_flags;
		soft_wr_setup(qp);
	}
	count_users(&qp->ex.qp_base, 1);
	return &qp->ex.qp_base;
}

SOFT_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = { 0 };
	struct ibv_qp *qp;

	/* Stored after the copy: the short structure has padding in its place. */
	memcpy(&ex, attr, sizeof(*attr));
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd;
	qp = soft_create_qp_ex(pd->context, &ex);
	if (qp)
		attr->cap = ex.cap;
	return qp;
}

SOFT_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *base)
{
	struct soft_qp *qp = soft_qp(base);

	return qp->has_ex ? &qp->ex : NULL;
}

/* ---- state ---- */

/* Removes the queue pair from its pipe's waiters. */
static void wait_for_room_no_more(struct soft_qp *qp)
{
	if (qp->routes)
		soft_datagram_calm(qp);
	if (!qp->out)
		return;
	soft_lock(&qp->out->tx);
	soft_list_del(&qp->waiting);
	soft_unlock(&qp->out->tx);
}

static void await_no_more(struct soft_qp *qp)
{
	if (qp->awaited)
		soft_out_put(qp->awaited);
	qp->awaited = NULL;
}

static void reset(struct soft_qp *qp)
{
	soft_qp_set_state(qp, IBV_QPS_RESET);
	wait_for_room_no_more(qp);
	await_no_more(qp);
	soft_qp_restart(qp);
	atomic_store(&qp->sq_released, qp->sq_head);
	qp->cut_ns = 0;
	qp->unheard = qp->routes != NULL;
	qp->rq.tail = qp->rq.head;
	qp->rx_active = qp->rx_again = false;
	qp->last_wqe = false;
	qp->comm_est = false;
	soft_cq_purge(soft_cq(qp->ex.qp_base.send_cq), qp);
	soft_cq_purge(soft_cq(qp->ex.qp_base.recv_cq), qp);
}

/* Waits until the peer no longer accesses this process's memory. */
static void wait_peer(struct soft_qp *qp)
{
	if (!qp->peer || qp->peer_idle)
		return;
	soft_heavy_barrier();
	soft_wait_peer(qp->out, qp->peer);
	qp->peer_idle = true;
}

/*
 * Takes messages and answers that came before the queue pair ends: a card takes them without the
 * program. In a child of fork, inherited queue pairs have no pipe.
 */
static void take_arrived(struct soft_qp *qp)
{
	if (soft_qp_out(qp))
		soft_progress_arrived(soft_core);
}

/* ---- modify ---- */

/* Access rights other than those of peers are ignored, as by the kernel. */
static int check_values(const struct ibv_qp_attr *attr, int mask)
{
	if ((mask & IBV_QP_PORT && attr->port_num != SOFT_PORT) || (mask & IBV_QP_PKEY_INDEX && attr->pkey_index != 0))
		return EINVAL;
	if (mask & IBV_QP_PATH_MTU && (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096))
		return EINVAL;
	if ((mask & IBV_QP_TIMEOUT && attr->timeout > MAX_5BIT) ||
	    (mask & IBV_QP_MIN_RNR_TIMER && attr->min_rnr_timer > MAX_5BIT))
		return EINVAL;
	if ((mask & IBV_QP_RETRY_CNT && attr->retry_cnt > MAX_3BIT) ||
	    (mask & IBV_QP_RNR_RETRY && attr->rnr_retry > MAX_3BIT))
		return EINVAL;
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > SOFT_MAX_RD_ATOMIC) ||
	    (mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > SOFT_MAX_RD_ATOMIC))
		return EINVAL;
	if (mask & IBV_QP_AV && (attr->ah_attr.port_num != SOFT_PORT ||
	                         (attr->ah_attr.is_global && attr->ah_attr.grh.sgid_index >= SOFT_MAX_GIDS)))
		return EINVAL;
	return mask & IBV_QP_DEST_QPN && attr->dest_qp_num > SHM_GATE_QPN ? EINVAL : 0;
}

static void take_values(struct ibv_qp_attr *own, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_QKEY)
		own->qkey = attr->qkey;
	if (mask & IBV_QP_ACCESS_FLAGS)
		own->qp_access_flags = attr->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		own->pkey_index = attr->pkey_index;
	if (mask & IBV_QP_PORT)
		own->port_num = attr->port_num;
	if (mask & IBV_QP_AV)
		own->ah_attr = attr->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		own->path_mtu = attr->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		own->timeout = attr->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		own->retry_cnt = attr->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		own->rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_RQ_PSN)
		own->rq_psn = attr->rq_psn & 0xffffff;
	if (mask & IBV_QP_SQ_PSN)
		own->sq_psn = attr->sq_psn & 0xffffff;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		own->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		own->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		own->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IBV_QP_DEST_QPN)
		own->dest_qp_num = attr->dest_qp_num;
	if (mask & IBV_QP_ALT_PATH) {
		own->alt_ah_attr = attr->alt_ah_attr;
		own->alt_pkey_index = attr->alt_pkey_index;
		own->alt_port_num = attr->alt_port_num;
		own->alt_timeout = attr->alt_timeout;
	}
	if (mask & IBV_QP_PATH_MIG_STATE)
		own->path_mig_state = attr->path_mig_state;
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		own->en_sqd_async_notify = attr->en_sqd_async_notify;
}

/*
 * *out is the caller's reference, or NULL. The pipe's death and its late answer are reported to the
 * queue pairs that use or await it.
 */
static void connect_peer(struct soft_qp *qp, struct soft_out **out)
{
	struct soft_out *old = qp->out;
	bool alive = *out && !atomic_load(&(*out)->dead), answered = alive && atomic_load(&(*out)->answered);
	bool taken = soft_attach_pipe(qp, answered ? *out : NULL);

	if (alive && !answered) {
		qp->awaited = *out;
		taken = true;
	}
	/* Requests start over; none is accepted before the requester's marked one. */
	qp->resync = true;
	qp->rx_drop = true;
	if (taken)
		*out = NULL;
	if (old)
		soft_out_put(old);
}

static void plan_cut(struct soft_qp *qp)
{
	uint64_t after_ns = soft_adversary_cut();

	if (!after_ns)
		return;
	qp->cut_ns = soft_now_ns() + after_ns;
	soft_timer_set(qp, qp->cut_ns);
}

static void enter(struct soft_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to, struct soft_out **out)
{
	switch (to) {
	case IBV_QPS_RESET:
		reset(qp);
		wait_peer(qp);
		break;
	case IBV_QPS_ERR:
		if (from != IBV_QPS_ERR)
			soft_qp_fail(qp);
		wait_peer(qp);
		break;
	case IBV_QPS_RTR:
		if (!qp->routes)
			connect_peer(qp, out);
		soft_qp_set_state(qp, to);
		break;
	case IBV_QPS_RTS:
		qp->retries_left = qp->attr.retry_cnt;
		qp->rnr_left = qp->attr.rnr_retry;
		soft_qp_set_state(qp, to);
		if (from == IBV_QPS_RTR && soft_adversary.on && !qp->routes)
			plan_cut(qp);
		soft_pump(qp);
		break;
	default:
		soft_qp_set_state(qp, to);
		if (to == IBV_QPS_SQD && qp->attr.en_sqd_async_notify && qp->inflight == 0)
			soft_async_qp(qp, IBV_EVENT_SQ_DRAINED);
	}
}

static int modify_locked(struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask, struct soft_out **out)
{
	enum ibv_qp_state from = soft_qp_state(qp);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	int err;

	if (mask & IBV_QP_CUR_STATE && attr->cur_qp_state != from)
		return EINVAL;
	err = soft_qp_check_modify(qp->ex.qp_base.qp_type, from, to, mask);
	if (!err)
		err = check_values(attr, mask);
	if (err)
		return err;
	take_values(&qp->attr, attr, mask);
	enter(qp, from, to, out);
	return 0;
}

SOFT_EXPORT int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
	struct soft_qp *qp = soft_qp(base);
	struct soft_out *out = NULL;
	int err = 0;

	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	if (mask & IBV_QP_STATE && (attr->qp_state == IBV_QPS_ERR || attr->qp_state == IBV_QPS_RESET))
		take_arrived(qp);
	/* Not under the lock: finding the peer may take a message to its engine. */
	if (mask & IBV_QP_DEST_QPN && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR &&
	    soft_qp_state(qp) == IBV_QPS_INIT)
		err = soft_out_get(soft_core, attr->dest_qp_num, SOFT_ANSWER_MS, &out);
	if (err)
		return soft_result(err);
	soft_lock(&qp->lock);
	err = modify_locked(qp, attr, mask, &out);
	soft_unlock(&qp->lock);
	if (out)
		soft_out_put(out);
	return soft_result(err);
}

SOFT_EXPORT int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask,
                             struct ibv_qp_init_attr *init_attr)
{
	struct soft_qp *qp = soft_qp(base);

	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	(void)mask;
	soft_lock(&qp->lock);
	*attr = qp->attr;
	attr->qp_state = attr->cur_qp_state = soft_qp_state(qp);
	attr->sq_draining = attr->qp_state == IBV_QPS_SQD && qp->inflight != 0;
	*init_attr = qp->init;
	init_attr->cap = qp->attr.cap;
	soft_unlock(&qp->lock);
	return 0;
}

/* Not declared in rdma-core 33 (Debian 11). */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);

SOFT_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	/* memcpy does not order the bytes of one request. */
	(void)qp;
	(void)op;
	(void)flags;
	return 0;
}

SOFT_EXPORT int ibv_destroy_qp(struct ibv_qp *base)
{
	struct soft_qp *qp = soft_qp(base);
	struct soft_core *core = soft_context(base->context)->core;

	take_arrived(qp);
	soft_lock(&qp->lock);
	reset(qp);
	wait_peer(qp);
	soft_unlock(&qp->lock);

	/* Threads that drain pipes or run timers find queue pairs there, under core->progress. */
	soft_lock(&core->progress);
	pthread_mutex_lock(&core->table_lock);
	core->qp[qp->index] = NULL;
	pthread_mutex_unlock(&core->table_lock);
	soft_timer_clear(qp);
	wait_for_room_no_more(qp);
	soft_unlock(&core->progress);

	soft_async_await(&base->mutex, &base->cond, &base->events_completed,
	                 soft_async_forget(base->context, qp, &qp->async_raised));
	if (qp->out)
		soft_out_put(qp->out);
	count_users(base, -1);
	qp_free(qp);
	return 0;
}
