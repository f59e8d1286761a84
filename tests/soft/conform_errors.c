// SPDX-License-Identifier: BSD-2-Clause
/* Conformance of a verbs device: errors, refusals, events, memory windows, extended interfaces. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab.h"

#define IBA "IBA vol. 1 "

static const struct lab_options defaults;

/* ---- operations that fail ---- */

static enum lab_verdict error__receive_too_short(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(lab_recv(&lab.b, 1, 0, 16) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 17, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_REM_INV_REQ_ERR);
	CHECK(lab_wait(lab.b.recv_cq).status == IBV_WC_LOC_LEN_ERR);
	CHECK(lab_state(lab.a.qp) == IBV_QPS_ERR && lab_state(lab.b.qp) == IBV_QPS_ERR);
	return LAB_PASSED;
}

/* A receive that promises more than its region has, or has a range that is no memory at all behind it. */
static int recv_beyond_region(struct lab *lab, uint64_t wr_id, uint32_t inside)
{
	struct ibv_sge sge[] = {
		{ (uintptr_t)lab->b.buffer + LAB_BUFFER - inside, LAB_BUFFER, lab->b.mr->lkey },
		{ 4096, 4096, lab->b.mr->lkey ^ 0x5500 },
	};
	struct ibv_recv_wr *bad, wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = 2 };

	return ibv_post_recv(lab->b.qp, &wr, &bad);
}

static enum lab_verdict error__receive_beyond_the_region(void)
{
	struct lab lab;
	struct ibv_wc wc;

	lab_setup(&lab, NULL);
	CHECK(recv_beyond_region(&lab, 1, 64) == 0 && recv_beyond_region(&lab, 2, 32768) == 0);
	CHECK(recv_beyond_region(&lab, 3, 64) == 0);
	/* What fits is written, and no more is asked of the receive. */
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 64, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 1 && wc.byte_len == 64);
	CHECK(memcmp(lab.b.buffer + LAB_BUFFER - 64, lab.a.buffer, 64) == 0 && lab.b.buffer[LAB_BUFFER - 65] == 'b');
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 32768, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 2 && wc.byte_len == 32768);
	/* What does not is refused, although the receive is long enough. */
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 65, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_REM_OP_ERR);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_LOC_PROT_ERR || wc.status == IBV_WC_LOC_QP_OP_ERR);
	return LAB_PASSED;
}

static enum lab_verdict error__bad_lkey(void)
{
	struct lab lab;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};
	int err;

	lab_setup(&lab, NULL);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 8, lab.a.mr->lkey ^ 0x5500 };
	wr.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer;
	wr.wr.rdma.rkey = lab.b.mr->rkey;
	err = lab_post(lab.a.qp, &wr);
	CHECK(err == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_LOC_PROT_ERR);
	CHECK(lab_state(lab.a.qp) == IBV_QPS_ERR && lab.b.buffer[0] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict error__bad_rkey_and_flush(void)
{
	struct lab lab;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	lab_setup(&lab, NULL);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 8, lab.a.mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer;
	wr.wr.rdma.rkey = lab.b.mr->rkey ^ 0x5500;
	CHECK(lab_post(lab.a.qp, &wr) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 2, 0, 8, 0) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 3, 0, 8, 0) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_REM_ACCESS_ERR);
	for (uint64_t i = 2; i <= 3; i++) {
		struct ibv_wc wc = lab_wait(lab.a.send_cq);

		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == i);
	}
	CHECK(lab.b.buffer[0] == 'b' && lab_state(lab.a.qp) == IBV_QPS_ERR);
	return LAB_PASSED;
}

static enum lab_verdict fails_with(const struct lab_options *options, enum ibv_wr_opcode op, uint64_t remote_at,
                                   uint32_t length, enum ibv_wc_status expected)
{
	struct lab lab;

	lab_setup(&lab, options);
	CHECK(lab_rdma(&lab, op, 0, remote_at, length, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == expected);
	CHECK(lab_state(lab.a.qp) == IBV_QPS_ERR);
	return LAB_PASSED;
}

static enum lab_verdict error__beyond_the_region(void)
{
	return fails_with(NULL, IBV_WR_RDMA_WRITE, LAB_BUFFER - 4, 8, IBV_WC_REM_ACCESS_ERR);
}

static enum lab_verdict error__region_without_remote_write(void)
{
	struct lab_options options = { .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ };

	return fails_with(&options, IBV_WR_RDMA_WRITE, 0, 8, IBV_WC_REM_ACCESS_ERR);
}

static enum lab_verdict error__region_without_remote_read(void)
{
	struct lab_options options = { .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };

	return fails_with(&options, IBV_WR_RDMA_READ, 0, 8, IBV_WC_REM_ACCESS_ERR);
}

static enum lab_verdict error__region_without_atomics(void)
{
	struct lab_options options = { .mr_access =
		                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

	return fails_with(&options, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, IBV_WC_REM_ACCESS_ERR);
}

static enum lab_verdict error__region_of_another_domain(void)
{
	struct lab_options options = { .own_pds = true };

	return fails_with(&options, IBV_WR_RDMA_WRITE, 0, 8, IBV_WC_REM_ACCESS_ERR);
}

static enum lab_verdict error__queue_pair_without_remote_write(void)
{
	struct lab_options options = { .qp_access = IBV_ACCESS_REMOTE_READ };

	return fails_with(&options, IBV_WR_RDMA_WRITE, 0, 8, IBV_WC_REM_INV_REQ_ERR);
}

static enum lab_verdict error__unaligned_atomic(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	/* The requester's device may notice it too. */
	if (lab_rdma(&lab, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 4, 8, IBV_SEND_SIGNALED) == EINVAL)
		return LAB_PASSED;
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_REM_INV_REQ_ERR);
	CHECK(lab_state(lab.a.qp) == IBV_QPS_ERR);
	return LAB_PASSED;
}

static enum lab_verdict error__no_receive_posted(void)
{
	struct lab_options options = { .rnr_retry = 0, .min_rnr_timer = 1 };

	return fails_with(&options, IBV_WR_SEND, 0, 8, IBV_WC_RNR_RETRY_EXC_ERR);
}

static enum lab_verdict error__silent_peer(void)
{
	struct lab_options options = { .retry_cnt = 1 };
	struct lab lab;

	lab_setup(&lab, &options);
	CHECK(ibv_destroy_qp(lab.b.qp) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_RETRY_EXC_ERR);
	return LAB_PASSED;
}

static enum lab_verdict error__receive_comes_in_time(void)
{
	struct lab_options options = { .rnr_retry = 7, .min_rnr_timer = 14 };
	struct timespec pause = { .tv_nsec = 20000000 };
	struct lab lab;

	lab_setup(&lab, &options);
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 1024, 8, IBV_SEND_SIGNALED) == 0);
	nanosleep(&pause, NULL);
	CHECK(lab.b.buffer[1024] == 'b');
	CHECK(lab_recv(&lab.b, 1, 0, 64) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(lab_wait(lab.b.recv_cq).status == IBV_WC_SUCCESS && lab.b.buffer[1024] == 'a');
	return LAB_PASSED;
}

/* A thread polls all the time, so that a device that coalesces small writes does so. */
static void *look(void *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) == 0)
		pthread_testcancel();
	return NULL;
}

static enum lab_verdict error__writes_behind_a_refused_send(void)
{
	struct lab_options options = { .rnr_retry = 7, .min_rnr_timer = 14 };
	struct ibv_sge sge[3];
	struct ibv_send_wr wr[3] = { { .opcode = IBV_WR_SEND },
		                         { .opcode = IBV_WR_RDMA_WRITE },
		                         { .opcode = IBV_WR_RDMA_WRITE } };
	struct timespec pause = { .tv_nsec = 2000000 };
	pthread_t looker;
	struct lab lab;

	lab_setup(&lab, &options);
	CHECK(pthread_create(&looker, NULL, look, ibv_create_cq(lab.ctx, 1, NULL, NULL, 0)) == 0);
	nanosleep(&pause, NULL);
	for (int i = 0; i < 3; i++) {
		sge[i] = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 8, lab.a.mr->lkey };
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		wr[i].wr.rdma.remote_addr = (uintptr_t)lab.b.buffer + 1024 + 64 * (unsigned int)i;
		wr[i].wr.rdma.rkey = lab.b.mr->rkey;
	}
	wr[2].send_flags = IBV_SEND_SIGNALED;
	for (int round = 0; round < 20; round++) {
		memset(lab.b.buffer, 'b', 2048);
		CHECK(lab_post(lab.a.qp, wr) == 0);
		nanosleep(&pause, NULL);
		CHECK(lab.b.buffer[1024 + 64] == 'b' && lab.b.buffer[1024 + 128] == 'b');
		CHECK(lab_recv(&lab.b, 1, 0, 64) == 0);
		CHECK(lab_wait(lab.b.recv_cq).status == IBV_WC_SUCCESS);
		CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS && lab.b.buffer[1024 + 128] == 'a');
	}
	pthread_cancel(looker);
	pthread_join(looker, NULL);
	return LAB_PASSED;
}

/* A program that looks once and then computes is still served. */
static enum lab_verdict progress__without_polls(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	const volatile uint8_t *byte;
	struct ibv_wc wc;
	struct lab lab;

	lab_setup(&lab, NULL);
	byte = lab.b.buffer;
	for (int round = 0; round < 20; round++) {
		memset(lab.b.buffer, 'b', 8);
		CHECK(lab_recv(&lab.b, 1, 0, 64) == 0);
		CHECK(ibv_poll_cq(lab.b.recv_cq, 1, &wc) == 0);
		CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
		for (int i = 0; i < 20000 && *byte != 'a'; i++)
			nanosleep(&pause, NULL);
		CHECK(*byte == 'a');
		CHECK(lab_wait(lab.b.recv_cq).status == IBV_WC_SUCCESS);
		CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	}
	return LAB_PASSED;
}

/* ---- posting what cannot be posted ---- */

static enum lab_verdict post__too_many_ranges(void)
{
	struct lab lab;
	struct ibv_sge sge[64] = { { 0 } };
	struct ibv_send_wr wr = { .sg_list = sge, .num_sge = 64, .opcode = IBV_WR_SEND };

	lab_setup(&lab, NULL);
	CHECK(lab_post(lab.a.qp, &wr) != 0);
	return LAB_PASSED;
}

/* Where the ranges would lie there is room for data, asked for or not. */
static enum lab_verdict post__inline_without_asking(void)
{
	struct lab lab;
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_sge sge = { .length = 16 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED
	};

	lab_setup(&lab, NULL);
	init.send_cq = lab.a.send_cq;
	init.recv_cq = lab.a.recv_cq;
	lab.a.qp = ibv_create_qp(lab.a.pd, &init);
	CHECK(lab.a.qp && init.cap.max_inline_data >= 16);
	lab.b.qp = lab_qp(&lab.b, &defaults);
	CHECK(lab.b.qp && lab_init(&lab, lab.a.qp, 0) == 0 && lab_init(&lab, lab.b.qp, IBV_ACCESS_REMOTE_WRITE) == 0);
	CHECK(lab_rtr(&lab, lab.a.qp, lab.b.qp->qp_num, &defaults) == 0);
	CHECK(lab_rtr(&lab, lab.b.qp, lab.a.qp->qp_num, &defaults) == 0);
	CHECK(lab_rts(lab.a.qp, &defaults) == 0);
	sge.addr = (uintptr_t)lab.a.buffer;
	wr.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer;
	wr.wr.rdma.rkey = lab.b.mr->rkey;
	CHECK(lab_post(lab.a.qp, &wr) == 0 && lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(memcmp(lab.b.buffer, lab.a.buffer, 16) == 0 && lab.b.buffer[16] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict post__too_much_inline(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(ibv_query_qp(lab.a.qp, &attr, IBV_QP_CAP, &init) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, init.cap.max_inline_data + 1, IBV_SEND_INLINE | IBV_SEND_SIGNALED) !=
	      0);
	return LAB_PASSED;
}

static enum lab_verdict post__bad_wr_names_the_first_not_posted(void)
{
	struct lab lab;
	struct ibv_sge sge, many[64] = { { 0 } };
	struct ibv_send_wr *bad = NULL;
	struct ibv_send_wr second = { .wr_id = 2, .sg_list = many, .num_sge = 64, .opcode = IBV_WR_RDMA_WRITE };
	struct ibv_send_wr first = { .wr_id = 1,
		                         .next = &second,
		                         .sg_list = &sge,
		                         .num_sge = 1,
		                         .opcode = IBV_WR_RDMA_WRITE,
		                         .send_flags = IBV_SEND_SIGNALED };

	lab_setup(&lab, NULL);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 8, lab.a.mr->lkey };
	first.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer;
	first.wr.rdma.rkey = lab.b.mr->rkey;
	CHECK(ibv_post_send(lab.a.qp, &first, &bad) != 0 && bad == &second);
	CHECK(lab_wait(lab.a.send_cq).wr_id == 1 && lab.b.buffer[0] == 'a');
	return LAB_PASSED;
}

static enum lab_verdict post__receive_queue_is_full(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(ibv_query_qp(lab.b.qp, &attr, IBV_QP_CAP, &init) == 0);
	for (uint32_t i = 0; i < init.cap.max_recv_wr; i++)
		CHECK(lab_recv(&lab.b, i, 0, 8) == 0);
	CHECK(lab_recv(&lab.b, 0, 0, 8) == ENOMEM);
	return LAB_PASSED;
}

/* ---- events ---- */

static enum lab_verdict event__communication_established(void)
{
	struct lab lab;
	struct ibv_qp *qa, *qb;
	struct lab_side side;

	lab_setup(&lab, NULL);
	qa = lab_qp(&lab.a, &defaults);
	qb = lab_qp(&lab.b, &defaults);
	CHECK(qa && qb && lab_init(&lab, qa, 0) == 0 && lab_init(&lab, qb, 0) == 0);
	CHECK(lab_rtr(&lab, qa, qb->qp_num, &defaults) == 0 && lab_rtr(&lab, qb, qa->qp_num, &defaults) == 0);
	CHECK(lab_rts(qa, &defaults) == 0);
	side = lab.b;
	side.qp = qb;
	CHECK(lab_recv(&side, 1, 0, 64) == 0);
	lab.a.qp = qa;
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(lab_event(&lab) == IBV_EVENT_COMM_EST);
	return LAB_PASSED;
}

static enum lab_verdict event__shared_queue_limit(void)
{
	struct lab_options options = { .srq = true };
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct lab lab;

	lab_setup(&lab, &options);
	for (uint64_t i = 0; i < 3; i++)
		CHECK(lab_recv(&lab.b, i, 0, 64) == 0);
	CHECK(ibv_modify_srq(lab.b.srq, &attr, IBV_SRQ_LIMIT) == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
		CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
		CHECK(lab_wait(lab.b.recv_cq).status == IBV_WC_SUCCESS);
	}
	CHECK(lab_event(&lab) == IBV_EVENT_SRQ_LIMIT_REACHED);
	return LAB_PASSED;
}

static enum lab_verdict event__last_wqe_reached(void)
{
	struct lab_options options = { .srq = true };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct lab lab;

	lab_setup(&lab, &options);
	CHECK(ibv_modify_qp(lab.b.qp, &attr, IBV_QP_STATE) == 0);
	CHECK(lab_event(&lab) == IBV_EVENT_QP_LAST_WQE_REACHED);
	return LAB_PASSED;
}

/* ---- memory windows ---- */

static struct ibv_mw_bind_info half(const struct lab *lab, unsigned int access)
{
	return (struct ibv_mw_bind_info){
		.mr = lab->b.mr, .addr = (uintptr_t)lab->b.buffer, .length = LAB_BUFFER / 2, .mw_access_flags = access
	};
}

static int write_under(struct lab *lab, uint32_t rkey, uint64_t remote_at)
{
	struct ibv_sge sge = { (uintptr_t)lab->a.buffer, 8, lab->a.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	wr.wr.rdma.remote_addr = (uintptr_t)lab->b.buffer + remote_at;
	wr.wr.rdma.rkey = rkey;
	return lab_post(lab->a.qp, &wr) ? -1 : (int)lab_wait(lab->a.send_cq).status;
}

static enum lab_verdict window__type_1(void)
{
	struct lab lab;
	struct ibv_mw *mw;
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };

	lab_setup(&lab, NULL);
	mw = ibv_alloc_mw(lab.b.pd, IBV_MW_TYPE_1);
	if (!mw)
		return LAB_UNSUPPORTED;
	bind.bind_info = half(&lab, IBV_ACCESS_REMOTE_WRITE);
	CHECK(ibv_bind_mw(lab.b.qp, mw, &bind) == 0);
	CHECK(lab_wait(lab.b.send_cq).status == IBV_WC_SUCCESS);
	CHECK(ibv_dereg_mr(lab.b.mr) != 0);
	CHECK(write_under(&lab, mw->rkey, 0) == IBV_WC_SUCCESS && lab.b.buffer[0] == 'a');
	CHECK(write_under(&lab, mw->rkey, LAB_BUFFER / 2) == IBV_WC_REM_ACCESS_ERR);
	return LAB_PASSED;
}

static enum lab_verdict window__type_2_and_local_invalidate(void)
{
	struct lab lab;
	struct ibv_mw *mw;
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED };

	lab_setup(&lab, NULL);
	mw = ibv_alloc_mw(lab.b.pd, IBV_MW_TYPE_2);
	if (!mw)
		return LAB_UNSUPPORTED;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = half(&lab, IBV_ACCESS_REMOTE_WRITE);
	CHECK(lab_post(lab.b.qp, &wr) == 0);
	CHECK(lab_wait(lab.b.send_cq).status == IBV_WC_SUCCESS);
	CHECK(write_under(&lab, wr.bind_mw.rkey, 0) == IBV_WC_SUCCESS);
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_LOCAL_INV,
		                       .send_flags = IBV_SEND_SIGNALED,
		                       .invalidate_rkey = wr.bind_mw.rkey };
	CHECK(lab_post(lab.b.qp, &wr) == 0);
	CHECK(lab_wait(lab.b.send_cq).status == IBV_WC_SUCCESS);
	CHECK(write_under(&lab, wr.invalidate_rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	return LAB_PASSED;
}

/* ---- extended interfaces ---- */

static enum lab_verdict extended__work_requests(void)
{
	struct lab_options options = { .send_ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND };
	struct lab lab;
	struct ibv_qp_ex *ex;

	lab_setup(&lab, &options);
	ex = ibv_qp_to_qp_ex(lab.a.qp);
	CHECK(ex != NULL);
	CHECK(lab_recv(&lab.b, 5, 1024, 64) == 0);
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, lab.b.mr->rkey, (uintptr_t)lab.b.buffer);
	ibv_wr_set_sge(ex, lab.a.mr->lkey, (uintptr_t)lab.a.buffer, 16);
	ex->wr_id = 2;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, (void *)(uintptr_t) "inline", 6);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(lab_wait(lab.a.send_cq).wr_id == 2);
	CHECK(lab_wait(lab.b.recv_cq).byte_len == 6);
	CHECK(memcmp(lab.b.buffer + 1024, "inline", 6) == 0 && lab.b.buffer[15] == 'a');
	return LAB_PASSED;
}

static enum lab_verdict extended__abort_posts_nothing(void)
{
	struct lab_options options = { .send_ops = IBV_QP_EX_WITH_RDMA_WRITE };
	struct lab lab;
	struct ibv_qp_ex *ex;

	lab_setup(&lab, &options);
	ex = ibv_qp_to_qp_ex(lab.a.qp);
	CHECK(ex != NULL);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, lab.b.mr->rkey, (uintptr_t)lab.b.buffer);
	ibv_wr_set_sge(ex, lab.a.mr->lkey, (uintptr_t)lab.a.buffer, 16);
	ibv_wr_abort(ex);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 33, 100, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).wr_id == 33 && lab.b.buffer[0] == 'b');
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "error: receive too short", error__receive_too_short, IBA "9.9.3.1.4, 11.6.2" },
	{ "error: receive beyond the region", error__receive_beyond_the_region, "Linux, drivers/infiniband/sw/rxe: copy_data" },
	{ "error: bad lkey", error__bad_lkey, IBA "11.6.2" },
	{ "error: bad rkey, and flush", error__bad_rkey_and_flush, IBA "11.6.2, 10.3.1.7" },
	{ "error: beyond the region", error__beyond_the_region, IBA "9.7.4.1.5" },
	{ "error: region without remote write", error__region_without_remote_write, IBA "9.7.4.1.5" },
	{ "error: region without remote read", error__region_without_remote_read, IBA "9.7.4.1.5" },
	{ "error: region without atomics", error__region_without_atomics, IBA "9.7.4.1.5" },
	{ "error: region of another domain", error__region_of_another_domain, IBA "10.6.3.5" },
	{ "error: queue pair without remote write", error__queue_pair_without_remote_write, IBA "9.7.4.1.2" },
	{ "error: unaligned atomic", error__unaligned_atomic, IBA "9.4.5" },
	{ "error: no receive posted", error__no_receive_posted, IBA "9.7.5.2.8" },
	{ "error: silent peer", error__silent_peer, IBA "9.9.2.1.1" },
	{ "error: receive comes in time", error__receive_comes_in_time, IBA "9.7.5.2.8" },
	{ "error: writes behind a refused send", error__writes_behind_a_refused_send, IBA "9.7.5.2.8" },
	{ "progress: without polls", progress__without_polls, IBA "9.2, 10.8.2" },
	{ "post: too many ranges", post__too_many_ranges, "ibv_post_send(3)" },
	{ "post: inline without asking", post__inline_without_asking, "Linux, drivers/infiniband/sw/rxe: rxe_qp_init_req" },
	{ "post: too much inline", post__too_much_inline, "ibv_post_send(3)" },
	{ "post: bad_wr names the first not posted", post__bad_wr_names_the_first_not_posted, "ibv_post_send(3)" },
	{ "post: receive queue is full", post__receive_queue_is_full, "ibv_post_recv(3)" },
	{ "event: communication established", event__communication_established, IBA "11.6.3.1" },
	{ "event: shared queue limit", event__shared_queue_limit, "ibv_modify_srq(3)" },
	{ "event: last WQE reached", event__last_wqe_reached, IBA "11.6.3.1" },
	{ "window: type 1", window__type_1, "ibv_bind_mw(3)" },
	{ "window: type 2 and local invalidate", window__type_2_and_local_invalidate, IBA "10.6.7.2" },
	{ "extended: work requests", extended__work_requests, "ibv_wr_post(3)" },
	{ "extended: abort posts nothing", extended__abort_posts_nothing, "ibv_wr_post(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
