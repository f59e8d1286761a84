// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conformance of a verbs device: extended interfaces, invalidation from afar, a large immediate
 * without a receive.
 */
#include <errno.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lab.h"

enum {
	LARGE = 60000, /* bytes: travels in many packets */
	IMMEDIATE = 0x12345678,
	ACCESS = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
};

static const struct lab_options defaults;

/* ---- a write with immediate that finds no receive, more than once ---- */

static enum lab_verdict immediate__large_write_waits_for_its_receive(void)
{
	struct lab_options options = { .rnr_retry = 7, .min_rnr_timer = 14 };
	struct timespec pause = { .tv_nsec = 30000000 };
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .send_flags = IBV_SEND_SIGNALED
	};
	struct lab lab;
	struct ibv_wc wc;

	lab_setup(&lab, &options);
	for (int i = 0; i < LARGE; i++)
		lab.a.buffer[i] = (uint8_t)(i % 251);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, LARGE, lab.a.mr->lkey };
	wr.imm_data = IMMEDIATE;
	wr.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer;
	wr.wr.rdma.rkey = lab.b.mr->rkey;
	CHECK(lab_post(lab.a.qp, &wr) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, LAB_BUFFER - 8, 8, IBV_SEND_SIGNALED) == 0);
	nanosleep(&pause, NULL);
	CHECK(ibv_poll_cq(lab.a.send_cq, 1, &wc) == 0 && lab.b.buffer[LAB_BUFFER - 8] == 'b');
	CHECK(lab_recv(&lab.b, 9, LAB_BUFFER - 64, 8) == 0);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 9 && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(wc.byte_len == LARGE && wc.imm_data == IMMEDIATE && wc.wc_flags & IBV_WC_WITH_IMM);
	CHECK(memcmp(lab.a.buffer, lab.b.buffer, LARGE) == 0 && lab.b.buffer[LARGE] == 'b');
	CHECK(lab_wait(lab.a.send_cq).wr_id == 1 && lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(ibv_poll_cq(lab.b.recv_cq, 1, &wc) == 0);
	return LAB_PASSED;
}

/* ---- memory on demand ---- */

/* A region of all memory, if the device has such; else NULL with *supported false. */
static struct ibv_mr *all_memory(struct lab *lab, bool *supported)
{
	struct ibv_device_attr_ex attr;

	*supported = ibv_query_device_ex(lab->a.pd->context, NULL, &attr) == 0 &&
	             attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT &&
	             attr.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_WRITE;
	return *supported ? ibv_reg_mr(lab->a.pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND) : NULL;
}

/* Other pages at `at`, or wherever there is room, full of one byte. */
static uint8_t *map_anew(void *at, uint8_t byte)
{
	uint8_t *map = mmap(at, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	return map == MAP_FAILED ? NULL : memset(map, byte, LARGE);
}

/* The write from `from` arrives as what lies there now. */
static bool arrives(struct lab *lab, const uint8_t *from, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)from, LARGE, lkey };
	struct ibv_send_wr wr = {
		.wr_id = 4, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	wr.wr.rdma.remote_addr = (uintptr_t)lab->b.buffer;
	wr.wr.rdma.rkey = lab->b.mr->rkey;
	return lab_post(lab->a.qp, &wr) == 0 && lab_wait(lab->a.send_cq).status == IBV_WC_SUCCESS &&
	       memcmp(lab->b.buffer, from, LARGE) == 0;
}

static enum lab_verdict demand__memory_is_what_is_mapped_now(void)
{
	struct ibv_mr *mr;
	bool supported;
	uint8_t *from;
	struct lab lab;

	lab_setup(&lab, &defaults);
	mr = all_memory(&lab, &supported);
	if (!supported)
		return LAB_UNSUPPORTED;
	CHECK(mr != NULL);
	from = map_anew(NULL, 1);
	CHECK(from != NULL);
	for (uint8_t byte = 2; byte < 20; byte++) {
		CHECK(arrives(&lab, from, mr->lkey));
		CHECK(map_anew(from, byte) == from);
	}
	CHECK(ibv_dereg_mr(mr) == 0);
	/* No other registration gets all memory unseen. */
	CHECK(ibv_reg_mr(lab.a.pd, NULL, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE) == NULL);
	return LAB_PASSED;
}

/* ---- invalidation ---- */

/* A window of type 2 on the first half of b's buffer; its key, or 0. */
static uint32_t bind_window(struct lab *lab)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mw *mw = ibv_alloc_mw(lab->b.pd, IBV_MW_TYPE_2);

	if (!mw)
		return 0;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ .mr = lab->b.mr,
		                                              .addr = (uintptr_t)lab->b.buffer,
		                                              .length = LAB_BUFFER / 2,
		                                              .mw_access_flags = IBV_ACCESS_REMOTE_WRITE };
	if (lab_post(lab->b.qp, &wr) != 0 || lab_wait(lab->b.send_cq).status != IBV_WC_SUCCESS)
		return 0;
	return wr.bind_mw.rkey;
}

static int write_under(struct lab *lab, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)lab->a.buffer, 8, lab->a.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	wr.wr.rdma.remote_addr = (uintptr_t)lab->b.buffer;
	wr.wr.rdma.rkey = rkey;
	return lab_post(lab->a.qp, &wr) ? -1 : (int)lab_wait(lab->a.send_cq).status;
}

static enum lab_verdict invalidate__by_a_send(void)
{
	struct lab lab;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED
	};
	struct ibv_wc wc;
	uint32_t rkey;

	lab_setup(&lab, NULL);
	rkey = bind_window(&lab);
	if (!rkey)
		return LAB_UNSUPPORTED;
	CHECK(write_under(&lab, rkey) == IBV_WC_SUCCESS);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 16, lab.a.mr->lkey };
	wr.invalidate_rkey = rkey;
	CHECK(lab_recv(&lab.b, 4, 1024, 64) == 0 && lab_post(lab.a.qp, &wr) == 0);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == 16 && wc.opcode == IBV_WC_RECV);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == rkey);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS && lab.b.buffer[1024] == 'a');
	CHECK(write_under(&lab, rkey) == IBV_WC_REM_ACCESS_ERR);
	return LAB_PASSED;
}

/* ---- the extended completion queue ---- */

/* New queue pairs on what is in the sides now. */
static bool connect_anew(struct lab *lab)
{
	lab->a.qp = lab_qp(&lab->a, &defaults);
	lab->b.qp = lab_qp(&lab->b, &defaults);
	return lab->a.qp && lab->b.qp && lab_init(lab, lab->a.qp, ACCESS) == 0 && lab_init(lab, lab->b.qp, ACCESS) == 0 &&
	       lab_rtr(lab, lab->a.qp, lab->b.qp->qp_num, &defaults) == 0 &&
	       lab_rtr(lab, lab->b.qp, lab->a.qp->qp_num, &defaults) == 0 && lab_rts(lab->a.qp, &defaults) == 0 &&
	       lab_rts(lab->b.qp, &defaults) == 0;
}

static struct ibv_cq_ex *extended_cq(struct lab *lab, uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 32, .wc_flags = wc_flags };

	return ibv_create_cq_ex(lab->ctx, &attr);
}

/* start_poll until something is there, twenty seconds at most. */
static int start(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct timespec pause = { .tv_nsec = 1000000 };
	int err = ENOENT;

	for (int i = 0; i < 20000 && err == ENOENT; i++) {
		err = ibv_start_poll(cq, &attr);
		if (err == ENOENT)
			nanosleep(&pause, NULL);
	}
	return err;
}

static enum lab_verdict extended_queue__empty(void)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct lab lab;
	struct ibv_cq_ex *cq;

	lab_setup(&lab, NULL);
	cq = extended_cq(&lab, 0);
	if (!cq)
		return LAB_UNSUPPORTED;
	CHECK(ibv_start_poll(cq, &attr) == ENOENT);
	CHECK(ibv_start_poll(cq, &attr) == ENOENT);
	return LAB_PASSED;
}

static enum lab_verdict extended_queue__start_next_end(void)
{
	struct lab lab;
	struct ibv_cq_ex *cq;
	int more;

	lab_setup(&lab, NULL);
	cq = extended_cq(&lab, IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM);
	if (!cq)
		return LAB_UNSUPPORTED;
	lab.a.send_cq = ibv_cq_ex_to_cq(cq);
	CHECK(connect_anew(&lab));
	for (uint64_t i = 0; i < 3; i++)
		CHECK(lab_rdma(&lab, i == 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i * 8, 0, 8, IBV_SEND_SIGNALED) == 0);
	/* All three are to be there before the first is looked at. */
	while (lab.b.buffer[0] != 'a' || nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL) != 0)
		;
	CHECK(start(cq) == 0);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK(cq->status == IBV_WC_SUCCESS && cq->wr_id == i * 8);
		CHECK(ibv_wc_read_opcode(cq) == (i == 1 ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE));
		CHECK(ibv_wc_read_qp_num(cq) == lab.a.qp->qp_num);
		more = ibv_next_poll(cq);
		if (i < 2 && more == ENOENT)
			return LAB_LATE;
		CHECK(more == (i < 2 ? 0 : ENOENT));
	}
	ibv_end_poll(cq);
	/* What was read has left the queue, and its room is there again. */
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 40, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(start(cq) == 0 && cq->wr_id == 40);
	ibv_end_poll(cq);
	return LAB_PASSED;
}

static enum lab_verdict extended_queue__receive_fields(void)
{
	struct lab lab;
	struct ibv_cq_ex *cq;
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .sg_list = &sge,
		                      .num_sge = 1,
		                      .opcode = IBV_WR_SEND_WITH_IMM,
		                      .send_flags = IBV_SEND_SIGNALED,
		                      .imm_data = IMMEDIATE };

	lab_setup(&lab, NULL);
	cq = extended_cq(&lab, IBV_WC_STANDARD_FLAGS);
	if (!cq)
		return LAB_UNSUPPORTED;
	lab.b.recv_cq = ibv_cq_ex_to_cq(cq);
	CHECK(connect_anew(&lab));
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 24, lab.a.mr->lkey };
	CHECK(lab_recv(&lab.b, 6, 0, 64) == 0 && lab_post(lab.a.qp, &wr) == 0);
	CHECK(start(cq) == 0 && cq->status == IBV_WC_SUCCESS && cq->wr_id == 6);
	CHECK(ibv_wc_read_opcode(cq) == IBV_WC_RECV && ibv_wc_read_byte_len(cq) == 24);
	CHECK(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM && ibv_wc_read_imm_data(cq) == IMMEDIATE);
	CHECK(ibv_wc_read_qp_num(cq) == lab.b.qp->qp_num);
	ibv_end_poll(cq);
	return LAB_PASSED;
}

static enum lab_verdict extended_queue__error_is_read(void)
{
	struct lab lab;
	struct ibv_cq_ex *cq;

	lab_setup(&lab, NULL);
	cq = extended_cq(&lab, 0);
	if (!cq)
		return LAB_UNSUPPORTED;
	lab.a.send_cq = ibv_cq_ex_to_cq(cq);
	CHECK(connect_anew(&lab));
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 3, LAB_BUFFER, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(start(cq) == 0 && cq->status == IBV_WC_REM_ACCESS_ERR && cq->wr_id == 3);
	ibv_end_poll(cq);
	return LAB_PASSED;
}

static uint64_t raw_clock(struct lab *lab)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	if (ibv_query_rt_values_ex(lab->ctx, &values) != 0 || values.comp_mask != IBV_VALUES_MASK_RAW_CLOCK)
		return 0;
	return (uint64_t)values.raw_clock.tv_nsec;
}

/* An entry has the time at which it came, also if the queue changes its size meanwhile. */
static bool comes_between(struct lab *lab, struct ibv_cq_ex *cq, int cqe)
{
	uint64_t before = raw_clock(lab), after;
	bool between;

	lab->b.buffer[0] = 'x';
	if (lab_rdma(lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) != 0)
		return false;
	while (lab->b.buffer[0] != 'a' || nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL) != 0)
		;
	if (ibv_resize_cq(ibv_cq_ex_to_cq(cq), cqe) != 0 || start(cq) != 0)
		return false;
	after = raw_clock(lab);
	between = before > 0 && ibv_wc_read_completion_ts(cq) >= before && ibv_wc_read_completion_ts(cq) <= after;
	ibv_end_poll(cq);
	return between;
}

/* A device either refuses a queue with timestamps or keeps them. */
static enum lab_verdict extended_queue__timestamps(void)
{
	struct ibv_device_attr_ex attr;
	struct ibv_cq_ex *cq;
	struct lab lab;

	lab_setup(&lab, NULL);
	cq = extended_cq(&lab, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	if (!cq) {
		CHECK(errno == EOPNOTSUPP || errno == ENOTSUP || errno == EINVAL);
		return LAB_PASSED;
	}
	lab.a.send_cq = ibv_cq_ex_to_cq(cq);
	CHECK(connect_anew(&lab));
	CHECK(ibv_query_device_ex(lab.ctx, NULL, &attr) == 0 && attr.completion_timestamp_mask != 0);
	for (int i = 0; i < 4; i++)
		CHECK(comes_between(&lab, cq, i % 2 ? 40 : 100));
	return LAB_PASSED;
}

static uint64_t day_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec;
}

static enum lab_verdict extended_queue__times_of_day(void)
{
	struct lab lab;
	struct ibv_cq_ex *cq;
	uint64_t before_s = day_s(), stamp_s;

	lab_setup(&lab, NULL);
	cq = extended_cq(&lab, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
	if (!cq)
		return LAB_UNSUPPORTED;
	lab.a.send_cq = ibv_cq_ex_to_cq(cq);
	CHECK(connect_anew(&lab));
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) == 0 && start(cq) == 0);
	stamp_s = ibv_wc_read_completion_wallclock_ns(cq) / 1000000000;
	CHECK(stamp_s + 1 >= before_s && stamp_s <= day_s());
	ibv_end_poll(cq);
	return LAB_PASSED;
}

static enum lab_verdict extended_queue__unknown_flag_is_refused(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(extended_cq(&lab, 1ull << 60) == NULL && errno != 0);
	return LAB_PASSED;
}

/* ---- builders of work requests ---- */

static struct ibv_qp_ex *builder(struct lab *lab, uint64_t ops)
{
	struct lab_options options = { .send_ops = ops };

	lab_setup(lab, &options);
	return ibv_qp_to_qp_ex(lab->a.qp);
}

static void begin(struct ibv_qp_ex *ex, uint64_t wr_id)
{
	ibv_wr_start(ex);
	ex->wr_id = wr_id;
	ex->wr_flags = IBV_SEND_SIGNALED;
}

static enum lab_verdict done(struct lab *lab, struct ibv_qp_ex *ex, uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	CHECK(ibv_wr_complete(ex) == 0);
	wc = lab_wait(lab->a.send_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == wr_id && wc.opcode == opcode);
	return LAB_PASSED;
}

static void a_range(struct lab *lab, struct ibv_qp_ex *ex, uint32_t length)
{
	ibv_wr_set_sge(ex, lab->a.mr->lkey, (uintptr_t)lab->a.buffer, length);
}

static enum lab_verdict build__write_with_immediate(void)
{
	struct lab lab;
	struct ibv_qp_ex *ex = builder(&lab, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
	struct ibv_wc wc;

	CHECK(ex && lab_recv(&lab.b, 2, 1024, 8) == 0);
	begin(ex, 11);
	ibv_wr_rdma_write_imm(ex, lab.b.mr->rkey, (uintptr_t)lab.b.buffer, IMMEDIATE);
	a_range(&lab, ex, 32);
	CHECK(done(&lab, ex, 11, IBV_WC_RDMA_WRITE) == LAB_PASSED);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.imm_data == IMMEDIATE && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(lab.b.buffer[31] == 'a' && lab.b.buffer[32] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict build__read(void)
{
	struct lab lab;
	struct ibv_qp_ex *ex = builder(&lab, IBV_QP_EX_WITH_RDMA_READ);

	CHECK(ex != NULL);
	begin(ex, 12);
	ibv_wr_rdma_read(ex, lab.b.mr->rkey, (uintptr_t)lab.b.buffer);
	a_range(&lab, ex, 32);
	CHECK(done(&lab, ex, 12, IBV_WC_RDMA_READ) == LAB_PASSED);
	CHECK(lab.a.buffer[31] == 'b' && lab.a.buffer[32] == 'a');
	return LAB_PASSED;
}

static enum lab_verdict build__send_with_immediate_from_a_list(void)
{
	struct lab lab;
	struct ibv_qp_ex *ex = builder(&lab, IBV_QP_EX_WITH_SEND_WITH_IMM);
	struct ibv_sge list[2];
	struct ibv_wc wc;

	CHECK(ex && lab_recv(&lab.b, 2, 0, 64) == 0);
	memcpy(lab.a.buffer, "0123456789", 10);
	list[0] = (struct ibv_sge){ (uintptr_t)lab.a.buffer + 5, 5, lab.a.mr->lkey };
	list[1] = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 5, lab.a.mr->lkey };
	begin(ex, 13);
	ibv_wr_send_imm(ex, IMMEDIATE);
	ibv_wr_set_sge_list(ex, 2, list);
	CHECK(done(&lab, ex, 13, IBV_WC_SEND) == LAB_PASSED);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.byte_len == 10 && wc.imm_data == IMMEDIATE && memcmp(lab.b.buffer, "5678901234b", 11) == 0);
	return LAB_PASSED;
}

static enum lab_verdict build__inline_list(void)
{
	struct lab lab;
	struct ibv_qp_ex *ex = builder(&lab, IBV_QP_EX_WITH_RDMA_WRITE);
	char one[4] = "one", two[4] = "two";
	struct ibv_data_buf list[2] = { { one, 3 }, { two, 3 } };

	CHECK(ex != NULL);
	begin(ex, 14);
	ibv_wr_rdma_write(ex, lab.b.mr->rkey, (uintptr_t)lab.b.buffer);
	ibv_wr_set_inline_data_list(ex, 2, list);
	memset(one, 'x', 3);
	CHECK(done(&lab, ex, 14, IBV_WC_RDMA_WRITE) == LAB_PASSED);
	CHECK(memcmp(lab.b.buffer, "onetwob", 7) == 0);
	return LAB_PASSED;
}

static enum lab_verdict build__atomics(void)
{
	struct lab lab;
	struct ibv_qp_ex *ex = builder(&lab, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);
	uint64_t *there, *here;

	CHECK(ex != NULL);
	there = (uint64_t *)(void *)lab.b.buffer;
	here = (uint64_t *)(void *)lab.a.buffer;
	*there = 40;
	begin(ex, 15);
	ibv_wr_atomic_fetch_add(ex, lab.b.mr->rkey, (uintptr_t)there, 2);
	a_range(&lab, ex, 8);
	CHECK(done(&lab, ex, 15, IBV_WC_FETCH_ADD) == LAB_PASSED && *here == 40 && *there == 42);
	begin(ex, 16);
	ibv_wr_atomic_cmp_swp(ex, lab.b.mr->rkey, (uintptr_t)there, 42, 7);
	a_range(&lab, ex, 8);
	CHECK(done(&lab, ex, 16, IBV_WC_COMP_SWAP) == LAB_PASSED && *here == 42 && *there == 7);
	return LAB_PASSED;
}

static enum lab_verdict build__window_and_invalidations(void)
{
	struct lab lab;
	struct ibv_qp_ex *ex =
		builder(&lab, IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV);
	struct ibv_mw_bind_info info;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t ours, theirs;

	CHECK(ex != NULL);
	mw = ibv_alloc_mw(lab.a.pd, IBV_MW_TYPE_2);
	theirs = bind_window(&lab);
	if (!mw || !theirs)
		return LAB_UNSUPPORTED;
	info = (struct ibv_mw_bind_info){
		.mr = lab.a.mr, .addr = (uintptr_t)lab.a.buffer, .length = 4096, .mw_access_flags = IBV_ACCESS_REMOTE_READ
	};
	ours = ibv_inc_rkey(mw->rkey);
	begin(ex, 17);
	ibv_wr_bind_mw(ex, mw, ours, &info);
	CHECK(done(&lab, ex, 17, IBV_WC_BIND_MW) == LAB_PASSED);
	begin(ex, 18);
	ibv_wr_local_inv(ex, ours);
	CHECK(done(&lab, ex, 18, IBV_WC_LOCAL_INV) == LAB_PASSED);
	CHECK(lab_recv(&lab.b, 3, 1024, 64) == 0);
	begin(ex, 19);
	ibv_wr_send_inv(ex, theirs);
	a_range(&lab, ex, 8);
	CHECK(done(&lab, ex, 19, IBV_WC_SEND) == LAB_PASSED);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == theirs);
	return LAB_PASSED;
}

static enum lab_verdict build__too_much_inline_fails_the_batch(void)
{
	static uint8_t much[65536];
	struct lab lab;
	struct ibv_qp_ex *ex = builder(&lab, IBV_QP_EX_WITH_RDMA_WRITE);
	struct ibv_wc wc;

	CHECK(ex != NULL);
	begin(ex, 20);
	ibv_wr_rdma_write(ex, lab.b.mr->rkey, (uintptr_t)lab.b.buffer);
	a_range(&lab, ex, 8);
	ibv_wr_rdma_write(ex, lab.b.mr->rkey, (uintptr_t)lab.b.buffer);
	ibv_wr_set_inline_data(ex, much, sizeof(much));
	CHECK(ibv_wr_complete(ex) != 0);
	CHECK(ibv_poll_cq(lab.a.send_cq, 1, &wc) == 0 && lab.b.buffer[0] == 'b');
	return LAB_PASSED;
}

/* ---- what a device says of the order of bytes ---- */

static enum lab_verdict order__of_bytes_is_told(void)
{
	struct lab lab;
	int told;

	lab_setup(&lab, NULL);
	told = ibv_query_qp_data_in_order(lab.b.qp, IBV_WR_RDMA_WRITE, 0);
	CHECK(told == 0 || told == 1);
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "immediate: large write waits", immediate__large_write_waits_for_its_receive, "ibv_modify_qp(3), rnr_retry" },
	{ "demand: memory is what is mapped now", demand__memory_is_what_is_mapped_now, "ibv_reg_mr(3)" },
	{ "invalidate: by a send", invalidate__by_a_send, "ibv_post_send(3), ibv_poll_cq(3)" },
	{ "extended queue: empty", extended_queue__empty, "ibv_create_cq_ex(3)" },
	{ "extended queue: start, next, end", extended_queue__start_next_end, "ibv_create_cq_ex(3)" },
	{ "extended queue: receive fields", extended_queue__receive_fields, "ibv_create_cq_ex(3)" },
	{ "extended queue: error is read", extended_queue__error_is_read, "ibv_create_cq_ex(3)" },
	{ "extended queue: timestamps", extended_queue__timestamps, "ibv_create_cq_ex(3)" },
	{ "extended queue: times of day", extended_queue__times_of_day, "ibv_create_cq_ex(3)" },
	{ "extended queue: unknown flag is refused", extended_queue__unknown_flag_is_refused, "ibv_create_cq_ex(3)" },
	{ "build: write with immediate", build__write_with_immediate, "ibv_wr_post(3)" },
	{ "build: read", build__read, "ibv_wr_post(3)" },
	{ "build: send with immediate from a list", build__send_with_immediate_from_a_list, "ibv_wr_post(3)" },
	{ "build: inline list", build__inline_list, "ibv_wr_post(3)" },
	{ "build: atomics", build__atomics, "ibv_wr_post(3)" },
	{ "build: window and invalidations", build__window_and_invalidations, "ibv_wr_post(3)" },
	{ "build: too much inline fails the batch", build__too_much_inline_fails_the_batch, "ibv_wr_post(3)" },
	{ "order: of bytes is told", order__of_bytes_is_told, "ibv_query_qp_data_in_order(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
