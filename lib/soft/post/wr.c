// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibv_wr_*: work requests built in place. wr_start takes the queue pair's lock, each builder fills
 * the next element of the send queue, the setters add its data, and wr_complete posts all of them.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/post/post.h"
#include "soft/request/datagram.h"
#include "soft/request/request.h"
#include "soft/rma/copy.h"
#include "soft/state/qp.h"

static struct soft_qp *self(struct ibv_qp_ex *ex)
{
	return soft_container(ex, struct soft_qp, ex);
}

static void wr_fail(struct soft_qp *qp, int err)
{
	if (!qp->wr_err)
		qp->wr_err = err;
}

/* Returns the element that the setters fill. */
static struct soft_wqe *current_wqe(struct soft_qp *qp)
{
	return soft_wqe(qp, qp->wr_head - 1);
}

/* Returns NULL if the batch has failed already or there is no room. */
static struct soft_wqe *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
	struct soft_qp *qp = self(ex);
	struct soft_wqe *wqe;

	if (qp->wr_err)
		return NULL;
	if (!soft_sq_room(qp, qp->wr_head)) {
		wr_fail(qp, ENOMEM);
		return NULL;
	}
	wqe = soft_wqe(qp, qp->wr_head++);
	wqe->wr_id = ex->wr_id;
	wqe->opcode = opcode;
	wqe->flags = ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE;
	wqe->length = 0;
	wqe->nsge = 0;
	wqe->imm = 0;
	wqe->placed = 0;
	return wqe;
}

static struct soft_wqe *begin_rdma(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t raddr)
{
	struct soft_wqe *wqe = begin(ex, opcode);

	if (wqe) {
		wqe->rkey = rkey;
		wqe->raddr = raddr;
	}
	return wqe;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr)
{
	begin_rdma(ex, IBV_WR_RDMA_WRITE, rkey, raddr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr, __be32 imm)
{
	struct soft_wqe *wqe = begin_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, raddr);

	if (wqe)
		wqe->imm = imm;
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr)
{
	begin_rdma(ex, IBV_WR_RDMA_READ, rkey, raddr);
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	struct soft_wqe *wqe = begin(ex, IBV_WR_SEND_WITH_IMM);

	if (wqe)
		wqe->imm = imm;
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	struct soft_wqe *wqe = begin(ex, IBV_WR_SEND_WITH_INV);

	if (wqe)
		wqe->imm = rkey;
}

/* Unreliable connections do not have this operation. */
static void wr_no_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	(void)rkey;
	wr_fail(self(ex), EINVAL);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr, uint64_t compare, uint64_t swap)
{
	struct soft_wqe *wqe = begin_rdma(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, raddr);

	if (wqe) {
		wqe->compare_add = compare;
		wqe->swap = swap;
	}
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr, uint64_t add)
{
	struct soft_wqe *wqe = begin_rdma(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, raddr);

	if (wqe)
		wqe->compare_add = add;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	struct soft_wqe *wqe = begin(ex, IBV_WR_LOCAL_INV);

	if (wqe)
		wqe->imm = rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct soft_wqe *wqe = begin_rdma(ex, IBV_WR_BIND_MW, rkey, 0);

	if (wqe) {
		wqe->mw = mw;
		wqe->bind = *info;
	}
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct soft_qp *qp = self(ex);
	struct soft_wqe *wqe;

	if (qp->wr_err)
		return;
	if (n > qp->attr.cap.max_send_sge) {
		wr_fail(qp, EINVAL);
		return;
	}
	wqe = current_wqe(qp);
	wqe->nsge = (uint32_t)n;
	wqe->length = 0;
	for (size_t i = 0; i < n; i++) {
		wqe->sge[i] = list[i];
		wqe->length += list[i].length;
	}
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
	struct soft_qp *qp = self(ex);
	struct soft_wqe *wqe;
	uint8_t *at;

	if (qp->wr_err)
		return;
	wqe = current_wqe(qp);
	at = (uint8_t *)wqe->sge;
	wqe->length = 0;
	for (size_t i = 0; i < n; i++) {
		if (list[i].length > qp->attr.cap.max_inline_data - wqe->length) {
			wr_fail(qp, EINVAL);
			return;
		}
		soft_copy(at, list[i].addr, list[i].length);
		at += list[i].length;
		wqe->length += list[i].length;
	}
	wqe->nsge = 1;
	wqe->flags |= IBV_SEND_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ex, 1, &buf);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct soft_qp *qp = self(ex);

	if (!qp->wr_err)
		soft_datagram_address(current_wqe(qp), ah, qpn, qkey);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct soft_qp *qp = self(ex);

	soft_lock(&qp->lock);
	qp->wr_head = qp->sq_head;
	qp->wr_err = 0;
}

static bool is_atomic(uint32_t opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Returns the result of the batch; its requests are posted if that is 0. */
static inline int batch_result(struct soft_qp *qp)
{
	enum ibv_qp_state state = soft_qp_state(qp);
	int err = soft_call_fails("wr_complete") ? ENOMEM : qp->wr_err;

	if (!err && state != IBV_QPS_RTS && state != IBV_QPS_SQD && state != IBV_QPS_ERR)
		err = EINVAL;
	for (uint32_t i = qp->sq_head; !err && i != qp->wr_head; i++) {
		const struct soft_wqe *wqe = soft_wqe(qp, i);

		if (is_atomic(wqe->opcode) && (wqe->length != sizeof(uint64_t) || wqe->nsge != 1))
			err = EINVAL;
	}
	return err;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct soft_qp *qp = self(ex);
	int err = batch_result(qp);

	if (!err) {
		qp->sq_head = qp->wr_head;
		soft_pump(qp);
	}
	soft_unlock(&qp->lock);
	return err;
}

static int wr_complete_datagrams(struct ibv_qp_ex *ex)
{
	struct soft_qp *qp = self(ex);
	uint32_t first = qp->sq_head;
	int err = batch_result(qp);

	if (!err) {
		qp->sq_head = qp->wr_head;
		soft_route_and_send(qp, first);
	}
	soft_unlock(&qp->lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	soft_unlock(&self(ex)->lock);
}

void soft_wr_setup(struct soft_qp *qp)
{
	struct ibv_qp_ex *ex = &qp->ex;

	ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_local_inv = wr_local_inv;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = soft_is_unreliable(qp) ? wr_no_send_inv : wr_send_inv;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_start = wr_start;
	ex->wr_complete = qp->routes ? wr_complete_datagrams : wr_complete;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_abort = wr_abort;
}
