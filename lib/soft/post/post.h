// SPDX-License-Identifier: BSD-2-Clause
/* Posting work requests. */
#ifndef SOFT_POST_H
#define SOFT_POST_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/rma/copy.h"
#include "soft/state/qp.h"

int soft_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int soft_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int soft_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/*
 * A work request into the send queue: checked and copied. Inline, for post.c and datagram_post.c.
 */

static inline bool soft_may_be_inline(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND ||
	       opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

/* Returns false if inline data exceed the limit. */
static inline bool soft_enqueue_inline(const struct soft_qp *qp, struct soft_wqe *wqe, const struct ibv_send_wr *wr)
{
	uint8_t *at = (uint8_t *)wqe->sge;
	uint64_t length = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		length += wr->sg_list[i].length;
		if (length > qp->attr.cap.max_inline_data)
			return false;
		soft_copy(at, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		at += wr->sg_list[i].length;
	}
	wqe->length = length;
	wqe->nsge = 1;
	return true;
}

static inline void soft_enqueue_ranges(struct soft_wqe *wqe, const struct ibv_send_wr *wr)
{
	wqe->length = 0;
	wqe->nsge = (uint32_t)wr->num_sge;
	for (uint32_t i = 0; i < wqe->nsge; i++) {
		wqe->sge[i] = wr->sg_list[i];
		wqe->length += wr->sg_list[i].length;
	}
}

/* Returns 0 or an errno value. */
static inline int soft_enqueue_operation(struct soft_wqe *wqe, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe->raddr = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->compare_add = wr->wr.atomic.compare_add;
		wqe->swap = wr->wr.atomic.swap;
		return wqe->length == sizeof(uint64_t) && wqe->nsge == 1 ? 0 : EINVAL;
	case IBV_WR_BIND_MW:
		wqe->mw = wr->bind_mw.mw;
		wqe->rkey = wr->bind_mw.rkey;
		wqe->bind = wr->bind_mw.bind_info;
		return 0;
	case IBV_WR_LOCAL_INV:
		wqe->imm = wr->invalidate_rkey;
		return 0;
	default:
		wqe->raddr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		wqe->imm = wr->imm_data;
		return 0;
	}
}

/* Copies the request to the queue's head; the caller counts it. Returns 0 or an errno value. */
static inline int soft_enqueue(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	struct soft_wqe *wqe;

	if (!soft_sq_room(qp, qp->sq_head))
		return ENOMEM;
	if ((uint32_t)wr->opcode > qp->last_opcode || wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->attr.cap.max_send_sge)
		return EINVAL;
	wqe = soft_wqe(qp, qp->sq_head);
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	wqe->placed = 0;
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (!soft_may_be_inline(wr->opcode) || !soft_enqueue_inline(qp, wqe, wr))
			return EINVAL;
	} else {
		soft_enqueue_ranges(wqe, wr);
	}
	return soft_enqueue_operation(wqe, wr);
}

static inline bool soft_takes_sends(enum ibv_qp_state state)
{
	return state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_ERR;
}

/* datagram_post.c */

/*
 * Under qp->lock, which is released while a route is looked up. Returns 0, or an errno value and
 * *bad.
 */
int soft_datagram_post(struct soft_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

/* datagram_post.c */

/*
 * Looks up the routes of the requests from index `first` on, and sends them. Under qp->lock, which
 * is released and taken again.
 */
void soft_route_and_send(struct soft_qp *qp, uint32_t first);
void soft_routes_free(struct soft_routes *routes);

/* ibv_wr_*: wr.c */

/* For a queue pair that was made for ibv_wr_*. */
void soft_wr_setup(struct soft_qp *qp);

#endif
