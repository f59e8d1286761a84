// SPDX-License-Identifier: BSD-2-Clause
/* Conformance of unreliable datagrams: what is lost, what fails, states and address handles. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "datagrams.h"

/* ---- what does not ---- */

static enum lab_verdict ud__longer_than_the_mtu(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(two_receives(&bench) == 0 && send_b(&bench, 0, bench.mtu + 1) == 0);
	return only_the_next_arrives(&bench);
}

static enum lab_verdict ud__other_q_key(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(two_receives(&bench) == 0);
	CHECK(send_to(&bench, bench.lab.b.qp->qp_num, QKEY + 1, 0, 100, IBV_SEND_SIGNALED) == 0);
	return only_the_next_arrives(&bench);
}

static enum lab_verdict ud__own_q_key(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(two_receives(&bench) == 0);
	CHECK(send_to(&bench, bench.lab.b.qp->qp_num, OWN | 5, 0, 100, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	CHECK(send_b(&bench, 0, 4) == 0 && sent(&bench));
	wc = lab_wait(bench.lab.b.recv_cq);
	CHECK(arrived(&wc, 1, 100));
	return LAB_PASSED;
}

static enum lab_verdict ud__q_key_is_changed(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct ibv_qp_attr attr = { .qkey = QKEY + 1 };
	struct ibv_qp_init_attr init;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(two_receives(&bench) == 0 && ibv_modify_qp(bench.lab.b.qp, &attr, IBV_QP_QKEY) == 0);
	CHECK(send_b(&bench, 0, 100) == 0 && sent(&bench));
	CHECK(send_to(&bench, bench.lab.b.qp->qp_num, QKEY + 1, 0, 4, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	wc = lab_wait(bench.lab.b.recv_cq);
	CHECK(arrived(&wc, 1, 4));
	CHECK(ibv_query_qp(bench.lab.b.qp, &attr, IBV_QP_QKEY, &init) == 0 && attr.qkey == QKEY + 1);
	return LAB_PASSED;
}

static enum lab_verdict ud__no_receive_posted(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct ibv_qp *other;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	/* What was sent after it has arrived elsewhere, so this one has gone by. */
	other = lab->b.qp;
	lab->b.qp = ready_qp(&lab->b, 0);
	CHECK(lab->b.qp && lab_recv(&lab->b, 9, 0, 256) == 0);
	CHECK(send_to(&bench, other->qp_num, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	CHECK(send_b(&bench, 0, 8) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 9, 8));
	lab->b.qp = other;
	memset(lab->b.buffer, 'b', 8192);
	CHECK(two_receives(&bench) == 0 && send_b(&bench, 0, 100) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 1, 100));
	CHECK(ibv_poll_cq(lab->b.recv_cq, 1, &wc) == 0);
	return LAB_PASSED;
}

static enum lab_verdict ud__receive_too_small(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct ibv_qp *other;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&lab->b, 1, 0, GRH + 10) == 0 && send_b(&bench, 0, 100) == 0 && sent(&bench));
	other = lab->b.qp;
	lab->b.qp = ready_qp(&lab->b, 0);
	CHECK(lab->b.qp && lab_recv(&lab->b, 9, 1024, 256) == 0);
	CHECK(send_b(&bench, 0, 8) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 9, 8));
	CHECK(lab->b.buffer[GRH + 10] == 'b' && lab_state(other) == IBV_QPS_RTS);
	return LAB_PASSED;
}

static enum lab_verdict ud__small_receive_is_still_there(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&lab->b, 1, 0, GRH + 10) == 0 && lab_recv(&lab->b, 2, 4096, 256) == 0);
	CHECK(send_b(&bench, 0, 100) == 0 && sent(&bench));
	CHECK(send_b(&bench, 0, 10) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 1, 10));
	return LAB_PASSED;
}

static enum lab_verdict ud__shared_receive_too_small(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up_with(&bench, &(struct options){ .srq = true });
	struct lab *lab = &bench.lab;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&lab->b, 1, 0, GRH + 10) == 0 && lab_recv(&lab->b, 2, 4096, 256) == 0);
	CHECK(send_b(&bench, 0, 100) == 0 && sent(&bench));
	CHECK(send_b(&bench, 0, 10) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(wc.status == IBV_WC_REM_INV_REQ_ERR && wc.wr_id == 1);
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 2, 10));
	CHECK(lab_state(lab->b.qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

static enum lab_verdict ud__unknown_number(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(two_receives(&bench) == 0);
	CHECK(send_to(&bench, NOBODY, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0);
	return only_the_next_arrives(&bench);
}

static enum lab_verdict ud__connected_queue_pair(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct ibv_qp *datagrams;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	datagrams = lab->b.qp;
	lab->b.qp = lab_qp(&lab->b, &(struct lab_options){ 0 });
	CHECK(lab->b.qp && lab_init(lab, lab->b.qp, 0) == 0);
	CHECK(lab_recv(&lab->b, 5, 0, 256) == 0);
	CHECK(lab_rtr(lab, lab->b.qp, lab->a.qp->qp_num, &(struct lab_options){ 0 }) == 0);
	CHECK(send_b(&bench, 0, 100) == 0 && sent(&bench));
	lab->b.qp = datagrams;
	CHECK(lab_recv(&lab->b, 1, 1024, 256) == 0 && send_b(&bench, 0, 8) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 1, 8));
	return LAB_PASSED;
}

static enum lab_verdict ud__not_ready(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct ibv_qp *ready;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	ready = lab->b.qp;
	CHECK(lab_recv(&lab->b, 9, 4096, 256) == 0);
	lab->b.qp = new_qp(&lab->b, 0);
	CHECK(lab->b.qp && to_init(lab->b.qp) == 0 && lab_recv(&lab->b, 1, 0, 256) == 0);
	CHECK(send_b(&bench, 0, 100) == 0 && sent(&bench));
	/* It has gone by when the next one has arrived elsewhere. */
	CHECK(send_to(&bench, ready->qp_num, QKEY, 0, 8, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 9, 8));
	CHECK(to_rtr(lab->b.qp) == 0 && send_b(&bench, 0, 4) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 1, 4));
	return LAB_PASSED;
}

/* ---- errors ---- */

static enum lab_verdict ud__bad_lkey(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };

	if (verdict != LAB_PASSED)
		return verdict;
	sge = (struct ibv_sge){ (uintptr_t)bench.lab.a.buffer, 8, bench.lab.a.mr->lkey ^ 0x5a00 };
	wr.wr.ud.ah = bench.ah;
	wr.wr.ud.remote_qpn = bench.lab.b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	CHECK(lab_post(bench.lab.a.qp, &wr) == 0);
	CHECK(lab_wait(bench.lab.a.send_cq).status == IBV_WC_LOC_PROT_ERR);
	return LAB_PASSED;
}

static enum lab_verdict ud__receive_beyond_the_region(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	enum ibv_wc_status status;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&lab->b, 1, LAB_BUFFER - GRH, 256) == 0);
	CHECK(send_b(&bench, 0, 100) == 0 && sent(&bench));
	status = lab_wait(lab->b.recv_cq).status;
	CHECK(status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_LOC_QP_OP_ERR);
	CHECK(lab_state(lab->b.qp) == IBV_QPS_ERR && lab_state(lab->a.qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

static enum lab_verdict ud__rdma_is_no_datagram(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_rdma(lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab->a.send_cq).status == IBV_WC_LOC_QP_OP_ERR);
	CHECK(lab_state(lab->a.qp) == IBV_QPS_ERR && lab->b.buffer[0] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict ud__error_flushes(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct lab *lab = &bench.lab;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&lab->a, 1, 0, 256) == 0 && lab_recv(&lab->a, 2, 0, 256) == 0);
	CHECK(ibv_modify_qp(lab->a.qp, &attr, IBV_QP_STATE) == 0);
	for (uint64_t i = 1; i <= 2; i++) {
		struct ibv_wc wc = lab_wait(lab->a.recv_cq);

		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == i);
	}
	CHECK(send_b(&bench, 0, 8) == 0);
	CHECK(lab_wait(lab->a.send_cq).status == IBV_WC_WR_FLUSH_ERR);
	return LAB_PASSED;
}

static enum lab_verdict ud__states(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;
	struct lab lab;

	lab_setup(&lab, NULL);
	qp = new_qp(&lab.a, 0);
	CHECK(qp && lab_state(qp) == IBV_QPS_RESET);
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT) == EINVAL);
	CHECK(lab_init(&lab, qp, 0) == EINVAL && to_rtr(qp) == EINVAL);
	CHECK(to_init(qp) == 0 && to_rts(qp) == EINVAL);
	CHECK(lab_rtr(&lab, qp, lab.b.qp->qp_num, &(struct lab_options){ 0 }) == EINVAL);
	CHECK(to_rtr(qp) == 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL);
	CHECK(lab_rts(qp, &(struct lab_options){ 0 }) == EINVAL);
	CHECK(to_rts(qp) == 0 && lab_state(qp) == IBV_QPS_RTS);
	CHECK(ibv_query_qp(qp, &attr, IBV_QP_QKEY, &init) == 0 && attr.qkey == QKEY && init.qp_type == IBV_QPT_UD);
	return LAB_PASSED;
}

/* ---- address handles ---- */

static enum lab_verdict ud__handle_of_no_port(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);

	if (verdict != LAB_PASSED)
		return verdict;
	bench.attr.port_num = 99;
	CHECK(!ibv_create_ah(bench.lab.a.pd, &bench.attr));
	return LAB_PASSED;
}

static enum lab_verdict ud__handle_of_no_address(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up_with(&bench, &(struct options){ .global = true });

	if (verdict != LAB_PASSED)
		return verdict;
	bench.attr.grh.sgid_index = 250;
	CHECK(!ibv_create_ah(bench.lab.a.pd, &bench.attr));
	return LAB_PASSED;
}

static enum lab_verdict ud__handle_keeps_the_domain_busy(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct ibv_pd *pd = verdict == LAB_PASSED ? ibv_alloc_pd(bench.lab.ctx) : NULL;
	struct ibv_ah *ah;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(pd != NULL);
	ah = ibv_create_ah(pd, &bench.attr);
	CHECK(ah && ah->pd == pd && ah->context == bench.lab.ctx);
	CHECK(ibv_dealloc_pd(pd) == EBUSY);
	CHECK(ibv_destroy_ah(ah) == 0 && ibv_dealloc_pd(pd) == 0);
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "ud: longer than the MTU", ud__longer_than_the_mtu, "Linux, drivers/infiniband/sw/rxe: rxe_requester" },
	{ "ud: other Q_Key", ud__other_q_key, "ibv_post_send(3)" },
	{ "ud: own Q_Key", ud__own_q_key, "ibv_post_send(3)" },
	{ "ud: Q_Key is changed", ud__q_key_is_changed, "ibv_modify_qp(3)" },
	{ "ud: no receive posted", ud__no_receive_posted, RXE_RESP },
	{ "ud: receive too small", ud__receive_too_small, RXE_RESP },
	{ "ud: small receive is still there", ud__small_receive_is_still_there, RXE_RESP },
	{ "ud: shared receive too small", ud__shared_receive_too_small, RXE_RESP },
	{ "ud: unknown number", ud__unknown_number, RXE_RECV },
	{ "ud: connected queue pair", ud__connected_queue_pair, RXE_RECV },
	{ "ud: not ready", ud__not_ready, RXE_RECV },
	{ "ud: bad lkey", ud__bad_lkey, "ibv_poll_cq(3)" },
	{ "ud: receive beyond the region", ud__receive_beyond_the_region, RXE_RESP },
	{ "ud: RDMA is no datagram", ud__rdma_is_no_datagram, "ibv_post_send(3)" },
	{ "ud: error flushes", ud__error_flushes, "ibv_modify_qp(3)" },
	{ "ud: states", ud__states, "ibv_modify_qp(3)" },
	{ "ud: handle of no port", ud__handle_of_no_port, "ibv_create_ah(3)" },
	{ "ud: handle of no address", ud__handle_of_no_address, "ibv_create_ah(3)" },
	{ "ud: handle keeps the domain busy", ud__handle_keeps_the_domain_busy, "ibv_alloc_pd(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
