// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs of identifiers, and completion queues if the caller passes none. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/cm/cm.h"

/* ---- attributes ---- */

static void init_attr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	attr->pkey_index = 0;
	attr->port_num = id->base.port_num;
	attr->qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

static void rtr_attr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	attr->ah_attr = (struct ibv_ah_attr){
		.grh = { .dgid = id->base.route.addr.addr.ibaddr.dgid, .hop_limit = 64 },
		.dlid = 1,
		.is_global = 1,
		.port_num = id->base.port_num,
	};
	attr->path_mtu = IBV_MTU_4096;
	attr->dest_qp_num = id->remote_qpn;
	attr->rq_psn = id->remote_psn;
	attr->max_dest_rd_atomic = id->responder_resources;
	attr->min_rnr_timer = CM_MIN_RNR_TIMER;
	*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	        IBV_QP_MIN_RNR_TIMER;
}

static void rts_attr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	attr->timeout = id->ack_timeout;
	attr->retry_cnt = id->retry_count;
	attr->rnr_retry = id->rnr_retry_count;
	attr->sq_psn = id->psn;
	attr->max_rd_atomic = id->initiator_depth;
	*mask =
		IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
}

static void datagram_attr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE;
	if (attr->qp_state == IBV_QPS_INIT) {
		attr->pkey_index = 0;
		attr->port_num = id->base.port_num;
		attr->qkey = RDMA_UDP_QKEY;
		*mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	} else if (attr->qp_state == IBV_QPS_RTS) {
		attr->sq_psn = 0;
		*mask |= IBV_QP_SQ_PSN;
	}
}

SOFT_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *base, struct ibv_qp_attr *attr, int *mask)
{
	const struct cm_id *id = cm_id(base);

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (!base->verbs)
		return cm_fail(EINVAL);
	if (cm_is_sidr(id) && attr->qp_state >= IBV_QPS_INIT && attr->qp_state <= IBV_QPS_RTS) {
		datagram_attr(id, attr, mask);
		return 0;
	}
	switch (attr->qp_state) {
	case IBV_QPS_INIT:
		init_attr(id, attr, mask);
		return 0;
	case IBV_QPS_RTR:
		rtr_attr(id, attr, mask);
		return 0;
	case IBV_QPS_RTS:
		rts_attr(id, attr, mask);
		return 0;
	default:
		return cm_fail(EINVAL);
	}
}

static int move_to(struct cm_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(&id->base, &attr, &mask) != 0)
		return errno;
	return ibv_modify_qp(id->base.qp, &attr, mask);
}

int cm_qp_ready(struct cm_id *id)
{
	/* The access flags depend on the negotiation, which follows the queue pair's creation. */
	int err = move_to(id, IBV_QPS_INIT);

	if (!err)
		err = move_to(id, IBV_QPS_RTR);
	if (!err)
		err = move_to(id, IBV_QPS_RTS);
	return err;
}

int cm_qp_error(struct cm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return id->base.qp ? ibv_modify_qp(id->base.qp, &attr, IBV_QP_STATE) : 0;
}

/* ---- making ---- */

static int make_cq(struct rdma_cm_id *id, uint32_t entries, struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
	*channel = ibv_create_comp_channel(id->verbs);
	if (!*channel)
		return errno;
	*cq = ibv_create_cq(id->verbs, entries ? (int)entries : 1, id, *channel, 0);
	if (*cq)
		return 0;
	ibv_destroy_comp_channel(*channel);
	*channel = NULL;
	return errno;
}

static void drop_cq(struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
	if (*cq)
		ibv_destroy_cq(*cq);
	if (*channel)
		ibv_destroy_comp_channel(*channel);
	*cq = NULL;
	*channel = NULL;
}

static void drop_cqs(struct rdma_cm_id *id)
{
	drop_cq(&id->recv_cq_channel, &id->recv_cq);
	drop_cq(&id->send_cq_channel, &id->send_cq);
}

static int make_cqs(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int err = 0;

	if (!attr->recv_cq)
		err = make_cq(id, attr->cap.max_recv_wr, &id->recv_cq_channel, &id->recv_cq);
	if (!err && !attr->send_cq)
		err = make_cq(id, attr->cap.max_send_wr, &id->send_cq_channel, &id->send_cq);
	if (err) {
		drop_cqs(id);
		return err;
	}
	if (!attr->recv_cq)
		attr->recv_cq = id->recv_cq;
	if (!attr->send_cq)
		attr->send_cq = id->send_cq;
	return 0;
}

SOFT_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *base, struct ibv_qp_init_attr_ex *attr)
{
	struct cm_id *id = cm_id(base);
	int err;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (!base->verbs || base->qp)
		return cm_fail(EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = base->pd;
	}
	if (!attr->srq)
		attr->srq = base->srq;
	err = make_cqs(base, attr);
	if (err)
		return cm_fail(err);
	base->qp = ibv_create_qp_ex(base->verbs, attr);
	if (!base->qp) {
		err = errno;
		goto err_cqs;
	}
	err = cm_is_sidr(id) ? cm_qp_ready(id) : move_to(id, IBV_QPS_INIT);
	if (err)
		goto err_qp;
	base->pd = attr->pd;
	return 0;

err_qp:
	ibv_destroy_qp(base->qp);
	base->qp = NULL;
err_cqs:
	drop_cqs(base);
	return cm_fail(err);
}

SOFT_EXPORT int rdma_create_qp(struct rdma_cm_id *base, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = { 0 };

	/* Set after the copy: the short structure has padding in its place. */
	memcpy(&ex, attr, sizeof(*attr));
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd;
	if (rdma_create_qp_ex(base, &ex) != 0)
		return -1;
	attr->cap = ex.cap;
	attr->send_cq = ex.send_cq;
	attr->recv_cq = ex.recv_cq;
	return 0;
}

SOFT_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (!id->qp)
		return;
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
	drop_cqs(id);
}

/* ---- shared receive queues ---- */

SOFT_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (!id->verbs || id->srq)
		return cm_fail(EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	id->srq = ibv_create_srq_ex(id->verbs, attr);
	return id->srq ? 0 : -1;
}

SOFT_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = { 0 };

	memcpy(&ex, attr, sizeof(*attr));
	ex.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	ex.pd = pd;
	if (rdma_create_srq_ex(id, &ex) != 0)
		return -1;
	attr->attr = ex.attr;
	return 0;
}

SOFT_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (id->srq)
		ibv_destroy_srq(id->srq);
	id->srq = NULL;
}
