// SPDX-License-Identifier: BSD-2-Clause
/*
 * The bench for unreliable datagrams: two queue pairs for them in one process.
 *
 * A case in which a datagram must not arrive sends a second one behind it, which must. Datagrams
 * from one queue pair to another keep their order. So when the second one is there, the first one
 * has been dropped.
 */
#ifndef SOFT_DATAGRAMS_H
#define SOFT_DATAGRAMS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lab.h"

#define RXE_RECV "Linux, drivers/infiniband/sw/rxe: hdr_check"
#define RXE_RESP "Linux, drivers/infiniband/sw/rxe: rxe_responder"

enum {
	GRH = 40,
	QKEY = 0x11111111,
	OWN = 0x80000000, /* the Q_Key of the sender's queue pair */
	IP_UDP_FIRST = 20,
	NOBODY = 0xfedcb, /* a number that no queue pair should have */
};

/* ---- setting up ---- */

/* Two queue pairs for datagrams. Both belong to one port, so one address is that of either. */
struct bench {
	struct lab lab;
	struct ibv_ah *ah;
	struct ibv_ah_attr attr;
	uint32_t mtu; /* bytes */
};

struct options {
	bool srq; /* b receives from a shared queue */
	bool global;
	uint64_t send_ops;
};

static inline struct ibv_qp *new_qp(struct lab_side *side, uint64_t send_ops)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = side->send_cq,
		.recv_cq = side->recv_cq,
		.srq = side->srq,
		.cap = { .max_send_wr = LAB_DEPTH,
		         .max_recv_wr = LAB_DEPTH,
		         .max_send_sge = 4,
		         .max_recv_sge = 4,
		         .max_inline_data = LAB_INLINE },
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | (send_ops ? (uint32_t)IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.pd = side->pd,
		.send_ops_flags = send_ops,
	};

	return ibv_create_qp_ex(side->pd->context, &init);
}

static inline int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

static inline int to_rtr(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static inline int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

/* A queue pair that is ready; NULL: there is none. */
static inline struct ibv_qp *ready_qp(struct lab_side *side, uint64_t send_ops)
{
	struct ibv_qp *qp = new_qp(side, send_ops);

	return qp && to_init(qp) == 0 && to_rtr(qp) == 0 && to_rts(qp) == 0 ? qp : NULL;
}

static inline void fill_address(struct bench *bench, bool global)
{
	struct lab *lab = &bench->lab;

	bench->attr = (struct ibv_ah_attr){ .dlid = lab->lid, .port_num = 1 };
	if (lab->gid_index < 0 && global && ibv_query_gid(lab->ctx, 1, 0, &lab->gid) == 0)
		lab->gid_index = 0;
	if (lab->gid_index < 0)
		return;
	bench->attr.is_global = 1;
	bench->attr.grh.dgid = lab->gid;
	bench->attr.grh.sgid_index = (uint8_t)lab->gid_index;
	bench->attr.grh.hop_limit = 7;
	bench->attr.grh.traffic_class = 0;
}

static inline enum lab_verdict set_up_with(struct bench *bench, const struct options *options)
{
	struct lab_options connected = { .srq = options->srq };
	struct ibv_port_attr port;
	struct lab *lab = &bench->lab;

	lab_setup(lab, &connected);
	fill_address(bench, options->global);
	lab->a.qp = ready_qp(&lab->a, options->send_ops);
	if (!lab->a.qp && options->send_ops && errno == EOPNOTSUPP)
		return LAB_UNSUPPORTED;
	lab->b.qp = ready_qp(&lab->b, 0);
	CHECK(lab->a.qp && lab->b.qp);
	bench->ah = ibv_create_ah(lab->a.pd, &bench->attr);
	CHECK(bench->ah && ibv_query_port(lab->ctx, 1, &port) == 0);
	bench->mtu = 128u << port.active_mtu;
	return LAB_PASSED;
}

static inline enum lab_verdict set_up(struct bench *bench)
{
	return set_up_with(bench, &(struct options){ 0 });
}

/* ---- acting ---- */

/* From a's buffer at `at`, or nothing at all, by its queue pair. 0 or an errno value. */
static inline int send_to(struct bench *bench, uint32_t qpn, uint32_t qkey, uint64_t at, uint32_t length,
                          unsigned int flags)
{
	struct lab *lab = &bench->lab;
	struct ibv_sge sge = { (uintptr_t)lab->a.buffer + at, length, lab->a.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = at, .sg_list = &sge, .num_sge = length > 0, .opcode = IBV_WR_SEND, .send_flags = flags
	};

	wr.wr.ud.ah = bench->ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = qkey;
	return lab_post(lab->a.qp, &wr);
}

static inline int send_b(struct bench *bench, uint64_t at, uint32_t length)
{
	return send_to(bench, bench->lab.b.qp->qp_num, QKEY, at, length, IBV_SEND_SIGNALED);
}

/* The next completion of a send was a success. */
static inline bool sent(struct bench *bench)
{
	return lab_wait(bench->lab.a.send_cq).status == IBV_WC_SUCCESS;
}

static inline bool arrived(const struct ibv_wc *wc, uint64_t wr_id, uint32_t length)
{
	return wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV && wc->wr_id == wr_id &&
	       wc->byte_len == GRH + length;
}

/*
 * Two receives are there and one datagram that must not arrive was sent: the next one takes the
 * first receive.
 */
static inline enum lab_verdict only_the_next_arrives(struct bench *bench)
{
	struct ibv_wc wc;

	CHECK(sent(bench));
	memcpy(bench->lab.a.buffer + 512, "next", 4);
	CHECK(send_b(bench, 512, 4) == 0 && sent(bench));
	wc = lab_wait(bench->lab.b.recv_cq);
	CHECK(arrived(&wc, 1, 4) && memcmp(bench->lab.b.buffer + GRH, "nextb", 5) == 0);
	CHECK(ibv_poll_cq(bench->lab.b.recv_cq, 1, &wc) == 0);
	CHECK(lab_state(bench->lab.a.qp) == IBV_QPS_RTS && lab_state(bench->lab.b.qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

static inline int two_receives(struct bench *bench)
{
	int err = lab_recv(&bench->lab.b, 1, 0, 4096);

	return err ? err : lab_recv(&bench->lab.b, 2, 8192, 4096);
}

#endif
