// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conformance of a verbs device: regions, queues, states, data. The cases follow the chapters of
 * the specification.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lab.h"

#define IBA "IBA vol. 1 "

static const struct lab_options defaults;

/* ---- the device ---- */

static enum lab_verdict device__has_a_vendor(void)
{
	struct ibv_device_attr attr;

	CHECK(ibv_query_device(lab_open(), &attr) == 0 && attr.vendor_id != 0);
	return LAB_PASSED;
}

static enum lab_verdict device__has_a_command_descriptor(void)
{
	struct ibv_context *ctx = lab_open();
	int fd = ctx->cmd_fd;

	CHECK(fd != ctx->async_fd && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(ibv_close_device(ctx) == 0 && fcntl(fd, F_GETFD) == -1);
	return LAB_PASSED;
}

/* Programs look for just this before they use atomics. */
static enum lab_verdict device__atomics_among_themselves(void)
{
	struct ibv_device_attr attr;

	CHECK(ibv_query_device(lab_open(), &attr) == 0 && attr.atomic_cap == IBV_ATOMIC_HCA);
	return LAB_PASSED;
}

/* Is errno what the call has returned? It is no success. */
static bool told_twice(int returned)
{
	bool told = returned > 0 && errno == returned;

	errno = 0;
	return told;
}

static enum lab_verdict device__errno_is_set_too(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_srq_attr limit = { .srq_limit = 1 << 30 };
	struct lab_options with_srq = { .srq = true };
	struct ibv_port_attr port;
	struct lab lab;

	lab_setup(&lab, &with_srq);
	errno = 0;
	CHECK(told_twice(ibv_query_port(lab.ctx, 99, &port)));
	CHECK(told_twice(ibv_dealloc_pd(lab.a.pd)));
	CHECK(told_twice(ibv_destroy_cq(lab.a.send_cq)));
	CHECK(told_twice(ibv_modify_qp(lab.a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT)));
	CHECK(told_twice(ibv_modify_srq(lab.b.srq, &limit, IBV_SRQ_LIMIT)));
	CHECK(told_twice(ibv_destroy_srq(lab.b.srq)));
	return LAB_PASSED;
}

/* ---- regions ---- */

static enum lab_verdict mr__remote_write_needs_local_write(void)
{
	struct ibv_context *ctx = lab_open();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	static uint8_t memory[4096];

	CHECK(pd != NULL);
	CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_REMOTE_WRITE) == NULL);
	CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_REMOTE_ATOMIC) == NULL);
	return LAB_PASSED;
}

static enum lab_verdict mr__inaccessible_memory_is_refused(void)
{
	struct ibv_context *ctx = lab_open();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	/* Reserved, so that nothing else can come to lie there meanwhile. */
	void *memory = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pd && memory != MAP_FAILED);
	CHECK(ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE) == NULL);
	return LAB_PASSED;
}

static enum lab_verdict mr__pd_in_use_is_busy(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(ibv_dealloc_pd(lab.a.pd) == EBUSY);
	return LAB_PASSED;
}

static enum lab_verdict mr__deregistered_key_is_dead(void)
{
	struct lab lab;
	uint32_t rkey;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	lab_setup(&lab, NULL);
	rkey = lab.b.mr->rkey;
	CHECK(ibv_dereg_mr(lab.b.mr) == 0);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 8, lab.a.mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer;
	wr.wr.rdma.rkey = rkey;
	CHECK(lab_post(lab.a.qp, &wr) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_REM_ACCESS_ERR);
	CHECK(lab.b.buffer[0] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict mr__rereg_moves_the_region(void)
{
	struct lab lab;
	uint8_t *other = aligned_alloc(4096, 4096);
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	lab_setup(&lab, NULL);
	memset(other, 'o', 4096);
	if (ibv_rereg_mr(lab.b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other, 4096, 0) != 0)
		return LAB_UNSUPPORTED;
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 8, lab.a.mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)other;
	wr.wr.rdma.rkey = lab.b.mr->rkey;
	CHECK(lab_post(lab.a.qp, &wr) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(memcmp(other, "aaaaaaaao", 9) == 0);
	return LAB_PASSED;
}

static enum lab_verdict mr__iova_is_the_remote_address(void)
{
	struct lab lab;
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	lab_setup(&lab, NULL);
	mr = ibv_reg_mr_iova(lab.b.pd, lab.b.buffer, 8192, 0x10000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(mr != NULL);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 8, lab.a.mr->lkey };
	wr.wr.rdma.remote_addr = 0x10000 + 100;
	wr.wr.rdma.rkey = mr->rkey;
	CHECK(lab_post(lab.a.qp, &wr) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(memcmp(lab.b.buffer + 99, "baaaaaaaab", 10) == 0);
	return LAB_PASSED;
}

/* ---- completion queues ---- */

static enum lab_verdict cq__busy_while_in_use(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(ibv_destroy_cq(lab.a.send_cq) == EBUSY);
	return LAB_PASSED;
}

static bool send_to_b(struct lab *lab, unsigned int flags)
{
	return lab_rdma(lab, IBV_WR_SEND, 0, 0, 8, IBV_SEND_SIGNALED | flags) == 0 &&
	       lab_wait(lab->a.send_cq).status == IBV_WC_SUCCESS;
}

/* The event that there is, or is to come, and is this queue's. */
static bool take_event(const struct lab *lab, const struct ibv_cq *expected)
{
	struct pollfd ready = { .fd = lab->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&ready, 1, 2000) != 1 || ibv_get_cq_event(lab->channel, &cq, &context) != 0)
		return false;
	ibv_ack_cq_events(cq, 1);
	return cq == expected;
}

static bool no_event(const struct lab *lab)
{
	struct pollfd ready = { .fd = lab->channel->fd, .events = POLLIN };

	return poll(&ready, 1, 50) == 0;
}

static enum lab_verdict cq__event_when_armed(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(no_event(&lab));
	CHECK(ibv_req_notify_cq(lab.a.send_cq, 0) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(take_event(&lab, lab.a.send_cq));
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	return LAB_PASSED;
}

/*
 * The caller cannot know when exactly a completion came: before he armed the queue, or behind that.
 * Each has one event.
 */
static enum lab_verdict cq__event_of_an_earlier_completion(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	for (uint64_t i = 0; i < 4; i++)
		CHECK(lab_recv(&lab.b, i, 64 * (size_t)i, 64) == 0);
	CHECK(send_to_b(&lab, 0));
	CHECK(ibv_req_notify_cq(lab.b.recv_cq, 1) == 0 && no_event(&lab)); /* that one is not solicited */
	CHECK(send_to_b(&lab, IBV_SEND_SOLICITED) && take_event(&lab, lab.b.recv_cq));
	CHECK(send_to_b(&lab, IBV_SEND_SOLICITED) && no_event(&lab)); /* no one has asked */
	CHECK(ibv_req_notify_cq(lab.b.recv_cq, 1) == 0 && take_event(&lab, lab.b.recv_cq));
	CHECK(ibv_req_notify_cq(lab.b.recv_cq, 0) == 0 && no_event(&lab));
	CHECK(send_to_b(&lab, 0) && take_event(&lab, lab.b.recv_cq));
	for (int i = 0; i < 4; i++)
		CHECK(lab_wait(lab.b.recv_cq).status == IBV_WC_SUCCESS);
	CHECK(ibv_req_notify_cq(lab.b.recv_cq, 0) == 0 && no_event(&lab));
	return LAB_PASSED;
}

static enum lab_verdict cq__solicited_only(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(lab_recv(&lab.b, 1, 0, 64) == 0 && lab_recv(&lab.b, 2, 64, 64) == 0);
	CHECK(ibv_req_notify_cq(lab.b.recv_cq, 1) == 0);
	CHECK(send_to_b(&lab, 0) && no_event(&lab));
	CHECK(send_to_b(&lab, IBV_SEND_SOLICITED) && take_event(&lab, lab.b.recv_cq));
	return LAB_PASSED;
}

static enum lab_verdict cq__overrun_raises_cq_error(void)
{
	struct lab_options options = { .cqe = 1 };
	struct lab lab;

	lab_setup(&lab, &options);
	/* The device may have made the queue bigger than asked. */
	for (int i = 0; i < lab.a.send_cq->cqe + 2 && i < LAB_DEPTH; i++)
		CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	if (lab.a.send_cq->cqe + 2 > LAB_DEPTH)
		return LAB_UNSUPPORTED;
	CHECK(lab_event(&lab) == IBV_EVENT_CQ_ERR);
	return LAB_PASSED;
}

/* Take events until one of a queue with this context comes; NULL if that failed. */
static void *fetch_until_the_last(void *arg)
{
	struct ibv_comp_channel *channel = arg;
	struct ibv_cq *cq;
	void *context;
	bool last = false;

	while (!last && ibv_get_cq_event(channel, &cq, &context) == 0) {
		last = context == channel;
		ibv_ack_cq_events(cq, 1);
	}
	return last ? channel : NULL;
}

/* A queue with an event: a receive that is flushed at once. */
static struct ibv_qp *flushed_receive(struct lab *lab, struct ibv_cq *cq)
{
	struct lab_side side = lab->a;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	side.send_cq = side.recv_cq = cq;
	side.qp = lab_qp(&side, &defaults);
	if (!side.qp || lab_init(lab, side.qp, 0) != 0 || ibv_req_notify_cq(cq, 0) != 0 || lab_recv(&side, 0, 0, 8) != 0 ||
	    ibv_modify_qp(side.qp, &attr, IBV_QP_STATE) != 0)
		return NULL;
	return side.qp;
}

/* A queue takes its events along, also from under the hands of a thread that waits for one. */
static enum lab_verdict cq__destroyed_while_its_event_is_fetched(void)
{
	enum { ROUNDS = 1000 };
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct lab lab;
	pthread_t thread;

	lab_setup(&lab, NULL);
	CHECK(pthread_create(&thread, NULL, fetch_until_the_last, lab.channel) == 0);
	for (int i = 0; i <= ROUNDS; i++) {
		cq = ibv_create_cq(lab.ctx, 16, i < ROUNDS ? NULL : lab.channel, lab.channel, 0);
		qp = cq ? flushed_receive(&lab, cq) : NULL;
		CHECK(qp != NULL);
		CHECK(i == ROUNDS || (ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0));
	}
	CHECK(pthread_join(thread, NULL) == 0);
	return LAB_PASSED;
}

static void nothing(int signal_number)
{
	(void)signal_number;
}

/* A thread that waits for an event goes on waiting after a signal whose handler says so. */
static enum lab_verdict cq__signal_restarts_the_wait(void)
{
	const struct timespec while_waiting = { .tv_nsec = 50000000 };
	const struct sigaction restart = { .sa_handler = nothing, .sa_flags = SA_RESTART };
	struct ibv_cq *cq;
	struct lab lab;
	pthread_t thread;
	void *seen;

	lab_setup(&lab, NULL);
	CHECK(sigaction(SIGUSR1, &restart, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, fetch_until_the_last, lab.channel) == 0);
	nanosleep(&while_waiting, NULL);
	CHECK(pthread_kill(thread, SIGUSR1) == 0);
	nanosleep(&while_waiting, NULL);
	cq = ibv_create_cq(lab.ctx, 16, lab.channel, lab.channel, 0);
	CHECK(cq && flushed_receive(&lab, cq));
	CHECK(pthread_join(thread, &seen) == 0 && seen == lab.channel);
	return LAB_PASSED;
}

/* ---- states ---- */

static enum lab_verdict state__only_along_the_arrows(void)
{
	struct lab lab;
	struct ibv_qp *qp;

	lab_setup(&lab, NULL);
	qp = lab_qp(&lab.a, &defaults);
	CHECK(qp && lab_state(qp) == IBV_QPS_RESET);
	CHECK(lab_rtr(&lab, qp, lab.b.qp->qp_num, &defaults) == EINVAL);
	CHECK(lab_rts(qp, &defaults) == EINVAL);
	CHECK(lab_init(&lab, qp, 0) == 0 && lab_state(qp) == IBV_QPS_INIT);
	CHECK(lab_rts(qp, &defaults) == EINVAL);
	CHECK(lab_init(&lab, qp, IBV_ACCESS_REMOTE_READ) == 0);
	CHECK(lab_rtr(&lab, qp, lab.b.qp->qp_num, &defaults) == 0 && lab_state(qp) == IBV_QPS_RTR);
	CHECK(lab_init(&lab, qp, 0) == EINVAL);
	CHECK(lab_rts(qp, &defaults) == 0 && lab_state(qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

static enum lab_verdict state__missing_attribute_is_invalid(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct lab lab;
	struct ibv_qp *qp;

	lab_setup(&lab, NULL);
	qp = lab_qp(&lab.a, &defaults);
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == EINVAL);
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX) == EINVAL);
	CHECK(ibv_modify_qp(qp, &attr,
	                    IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT) ==
	      EINVAL);
	CHECK(lab_state(qp) == IBV_QPS_RESET);
	return LAB_PASSED;
}

static enum lab_verdict state__posting_too_early_is_refused(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	lab.a.qp = lab_qp(&lab.a, &defaults);
	CHECK(lab_recv(&lab.a, 1, 0, 8) != 0);
	CHECK(lab_init(&lab, lab.a.qp, 0) == 0);
	CHECK(lab_recv(&lab.a, 1, 0, 8) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) != 0);
	return LAB_PASSED;
}

static enum lab_verdict state__error_flushes_in_order(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct lab lab;

	lab_setup(&lab, NULL);
	for (uint64_t i = 1; i <= 4; i++)
		CHECK(lab_recv(&lab.a, i, 0, 8) == 0);
	CHECK(ibv_modify_qp(lab.a.qp, &attr, IBV_QP_STATE) == 0);
	for (uint64_t i = 1; i <= 4; i++) {
		struct ibv_wc wc = lab_wait(lab.a.recv_cq);

		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == i);
	}
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 7, 0, 8, 0) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_WR_FLUSH_ERR);
	CHECK(lab_recv(&lab.a, 5, 0, 8) == 0);
	CHECK(lab_wait(lab.a.recv_cq).status == IBV_WC_WR_FLUSH_ERR);
	return LAB_PASSED;
}

static enum lab_verdict state__reset_and_again(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(ibv_modify_qp(lab.a.qp, &attr, IBV_QP_STATE) == 0 && ibv_modify_qp(lab.b.qp, &attr, IBV_QP_STATE) == 0);
	CHECK(lab_init(&lab, lab.a.qp, 0) == 0 && lab_init(&lab, lab.b.qp, IBV_ACCESS_REMOTE_WRITE) == 0);
	CHECK(lab_rtr(&lab, lab.a.qp, lab.b.qp->qp_num, &defaults) == 0);
	CHECK(lab_rtr(&lab, lab.b.qp, lab.a.qp->qp_num, &defaults) == 0);
	CHECK(lab_rts(lab.a.qp, &defaults) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS && lab.b.buffer[0] == 'a');
	return LAB_PASSED;
}

static enum lab_verdict state__sqd_holds_requests_back(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct ibv_wc wc;
	struct lab lab;

	lab_setup(&lab, NULL);
	if (ibv_modify_qp(lab.a.qp, &attr, IBV_QP_STATE) != 0)
		return LAB_UNSUPPORTED;
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	for (int i = 0; i < 1000; i++)
		CHECK(ibv_poll_cq(lab.a.send_cq, 1, &wc) == 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK(ibv_modify_qp(lab.a.qp, &attr, IBV_QP_STATE) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	return LAB_PASSED;
}

/* ---- operations that succeed ---- */

static enum lab_verdict data__write(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 1, 10000, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(lab.b.buffer[0] == 'b' && lab.b.buffer[1] == 'a' && lab.b.buffer[10000] == 'a' && lab.b.buffer[10001] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict data__inline_is_copied_at_once(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 0, LAB_INLINE, IBV_SEND_SIGNALED | IBV_SEND_INLINE) == 0);
	memset(lab.a.buffer, 'x', LAB_INLINE);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(lab.b.buffer[0] == 'a' && lab.b.buffer[LAB_INLINE - 1] == 'a');
	return LAB_PASSED;
}

static enum lab_verdict data__zero_length_needs_no_key(void)
{
	struct lab lab;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };

	lab_setup(&lab, NULL);
	CHECK(lab_post(lab.a.qp, &wr) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	return LAB_PASSED;
}

static enum lab_verdict data__read(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_READ, 100, 0, 20000, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(lab.a.buffer[99] == 'a' && lab.a.buffer[100] == 'b' && lab.a.buffer[20099] == 'b' &&
	      lab.a.buffer[20100] == 'a');
	return LAB_PASSED;
}

static enum lab_verdict send_once(uint32_t length)
{
	struct lab lab;
	struct ibv_wc wc;

	lab_setup(&lab, NULL);
	CHECK(lab_recv(&lab.b, 42, 0, LAB_BUFFER) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, length, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 42 && wc.byte_len == length && wc.opcode == IBV_WC_RECV);
	CHECK(wc.qp_num == lab.b.qp->qp_num && !(wc.wc_flags & IBV_WC_WITH_IMM));
	CHECK(length == 0 || lab.b.buffer[length - 1] == 'a');
	CHECK(length == LAB_BUFFER || lab.b.buffer[length] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict data__send_nothing(void)
{
	return send_once(0);
}

static enum lab_verdict data__send_small(void)
{
	return send_once(100);
}

static enum lab_verdict data__send_medium(void)
{
	return send_once(5000);
}

static enum lab_verdict data__send_large(void)
{
	return send_once(LAB_BUFFER);
}

static enum lab_verdict with_immediate(enum ibv_wr_opcode op, enum ibv_wc_opcode expected)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	return lab_with_immediate(&lab, op, expected);
}

static enum lab_verdict data__send_with_immediate(void)
{
	return with_immediate(IBV_WR_SEND_WITH_IMM, IBV_WC_RECV);
}

static enum lab_verdict data__write_with_immediate(void)
{
	return with_immediate(IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RECV_RDMA_WITH_IMM);
}

static enum lab_verdict data__fetch_and_add(void)
{
	struct lab lab;
	uint64_t value = 1000, old;

	lab_setup(&lab, NULL);
	memcpy(lab.b.buffer + 64, &value, 8);
	CHECK(lab_rdma(&lab, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 64, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
	memcpy(&old, lab.a.buffer + 8, 8);
	memcpy(&value, lab.b.buffer + 64, 8);
	CHECK(old == 1000 && value == 1005);
	return LAB_PASSED;
}

static enum lab_verdict data__compare_and_swap(void)
{
	struct lab lab;
	uint64_t value = 5, old;

	lab_setup(&lab, NULL);
	memcpy(lab.b.buffer, &value, 8);
	for (int i = 0; i < 2; i++) {
		CHECK(lab_rdma(&lab, IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0, 8, IBV_SEND_SIGNALED) == 0);
		CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS);
		memcpy(&old, lab.a.buffer + 8, 8);
		memcpy(&value, lab.b.buffer, 8);
		CHECK(old == (i ? 99u : 5u) && value == 99);
	}
	return LAB_PASSED;
}

static enum lab_verdict data__gather_and_scatter(void)
{
	struct lab lab;
	struct ibv_sge from[3], to[2];
	struct ibv_send_wr wr = { .sg_list = from, .num_sge = 3, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_recv_wr *bad, recv = { .sg_list = to, .num_sge = 2 };

	lab_setup(&lab, NULL);
	memcpy(lab.a.buffer, "0123456789", 10);
	from[0] = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 3, lab.a.mr->lkey };
	from[1] = (struct ibv_sge){ (uintptr_t)lab.a.buffer + 8, 2, lab.a.mr->lkey };
	from[2] = (struct ibv_sge){ (uintptr_t)lab.a.buffer + 4, 1, lab.a.mr->lkey };
	to[0] = (struct ibv_sge){ (uintptr_t)lab.b.buffer, 4, lab.b.mr->lkey };
	to[1] = (struct ibv_sge){ (uintptr_t)lab.b.buffer + 100, 4, lab.b.mr->lkey };
	CHECK(ibv_post_recv(lab.b.qp, &recv, &bad) == 0);
	CHECK(lab_post(lab.a.qp, &wr) == 0);
	CHECK(lab_wait(lab.b.recv_cq).byte_len == 6);
	CHECK(memcmp(lab.b.buffer, "0128b", 5) == 0 && memcmp(lab.b.buffer + 100, "94b", 3) == 0);
	return LAB_PASSED;
}

static enum lab_verdict data__completions_in_order(void)
{
	struct lab lab;
	enum ibv_wr_opcode ops[4] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND };

	lab_setup(&lab, NULL);
	for (uint64_t i = 0; i < 4; i++)
		CHECK(lab_recv(&lab.b, i, 1024 * i, 512) == 0);
	for (uint64_t i = 0; i < 8; i++)
		CHECK(lab_rdma(&lab, ops[i % 4], i, 32768 + 1024 * i, 8, IBV_SEND_SIGNALED) == 0);
	for (uint64_t i = 0; i < 8; i++) {
		struct ibv_wc wc = lab_wait(lab.a.send_cq);

		CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == i);
	}
	return LAB_PASSED;
}

static enum lab_verdict data__unsignalled_make_no_completion(void)
{
	struct lab lab;
	struct ibv_wc wc;

	lab_setup(&lab, NULL);
	for (uint64_t i = 0; i < 5; i++)
		CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, i, 0, 8, 0) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 77, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).wr_id == 77);
	CHECK(ibv_poll_cq(lab.a.send_cq, 1, &wc) == 0);
	return LAB_PASSED;
}

/* Another pair of queue pairs on the same bench; NULL if the device has none. */
static struct ibv_qp *more_queue_pairs(struct lab *lab, struct ibv_qp **from)
{
	struct ibv_qp *to = lab_qp(&lab->b, &defaults);

	*from = lab_qp(&lab->a, &defaults);
	if (!*from || !to || lab_init(lab, *from, 0) || lab_init(lab, to, 0) ||
	    lab_rtr(lab, *from, to->qp_num, &defaults) || lab_rtr(lab, to, (*from)->qp_num, &defaults) ||
	    lab_rts(*from, &defaults) || lab_rts(to, &defaults))
		return NULL;
	return to;
}

/* All queues full at once: whatever the pairs share on the way has to go round. */
static enum lab_verdict full_queues(struct lab *lab, struct ibv_qp *const *from, struct ibv_qp *const *to, int pairs)
{
	struct ibv_sge in = { (uintptr_t)lab->b.buffer, 100, lab->b.mr->lkey };
	struct ibv_sge out = { (uintptr_t)lab->a.buffer, 100, lab->a.mr->lkey };
	struct ibv_recv_wr *bad, recv = { .sg_list = &in, .num_sge = 1 };
	struct ibv_send_wr send = { .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };

	for (int i = 0; i < pairs * LAB_DEPTH; i++)
		CHECK(ibv_post_recv(to[i / LAB_DEPTH], &recv, &bad) == 0);
	for (int i = 0; i < pairs * LAB_DEPTH; i++)
		CHECK(lab_post(from[i / LAB_DEPTH], &send) == 0);
	for (int i = 0; i < pairs * LAB_DEPTH; i++)
		CHECK(lab_wait(lab->b.recv_cq).status == IBV_WC_SUCCESS);
	for (int i = 0; i < pairs * LAB_DEPTH; i++)
		CHECK(lab_wait(lab->a.send_cq).status == IBV_WC_SUCCESS);
	return LAB_PASSED;
}

static enum lab_verdict data__many_full_queues(void)
{
	enum { PAIRS = LAB_CQE / LAB_DEPTH, ROUNDS = 50 };
	struct ibv_qp *from[PAIRS], *to[PAIRS];
	enum lab_verdict verdict = LAB_PASSED;
	struct lab lab;

	lab_setup(&lab, NULL);
	for (int i = 0; i < PAIRS; i++) {
		to[i] = more_queue_pairs(&lab, &from[i]);
		CHECK(to[i] != NULL);
	}
	for (int i = 0; i < ROUNDS && verdict == LAB_PASSED; i++)
		verdict = full_queues(&lab, from, to, PAIRS);
	return verdict;
}

static const struct lab_case cases[] = {
	{ "device: has a vendor", device__has_a_vendor, "ibv_query_device(3)" },
	{ "device: has a command descriptor", device__has_a_command_descriptor, "rdma-core, libibverbs/device.c" },
	{ "device: atomics among themselves", device__atomics_among_themselves, "ibv_query_device(3)" },
	{ "device: errno is set too", device__errno_is_set_too, "rdma-core, libibverbs/cmd.c" },
	{ "mr: remote write needs local write", mr__remote_write_needs_local_write, "ibv_reg_mr(3)" },
	{ "mr: inaccessible memory is refused", mr__inaccessible_memory_is_refused, "ibv_reg_mr(3)" },
	{ "mr: domain in use is busy", mr__pd_in_use_is_busy, "ibv_alloc_pd(3)" },
	{ "mr: deregistered key is dead", mr__deregistered_key_is_dead, IBA "10.6.7.3" },
	{ "mr: rereg moves the region", mr__rereg_moves_the_region, "ibv_rereg_mr(3)" },
	{ "mr: iova is the remote address", mr__iova_is_the_remote_address, "ibv_reg_mr(3)" },
	{ "cq: busy while in use", cq__busy_while_in_use, "ibv_create_cq(3)" },
	{ "cq: event when armed", cq__event_when_armed, "ibv_get_cq_event(3)" },
	{ "cq: solicited only", cq__solicited_only, "ibv_req_notify_cq(3)" },
	{ "cq: event of an earlier completion", cq__event_of_an_earlier_completion, "ibv_req_notify_cq(3)" },
	{ "cq: overrun raises CQ error", cq__overrun_raises_cq_error, "ibv_poll_cq(3), ibv_get_async_event(3)" },
	{ "cq: destroyed while its event is fetched", cq__destroyed_while_its_event_is_fetched, "ibv_get_cq_event(3)" },
	{ "cq: signal restarts the wait", cq__signal_restarts_the_wait, "signal(7)" },
	{ "state: only along the arrows", state__only_along_the_arrows, IBA "10.3.1, ibv_modify_qp(3)" },
	{ "state: missing attribute is invalid", state__missing_attribute_is_invalid, "ibv_modify_qp(3)" },
	{ "state: posting too early is refused", state__posting_too_early_is_refused, IBA "10.3.1.1, 10.3.1.2" },
	{ "state: error flushes in order", state__error_flushes_in_order, IBA "10.3.1.7, 10.8.3.1" },
	{ "state: reset and again", state__reset_and_again, IBA "10.3.1.1" },
	{ "state: SQD holds requests back", state__sqd_holds_requests_back, IBA "10.3.1.5" },
	{ "data: write", data__write, IBA "9.4.3" },
	{ "data: inline is copied at once", data__inline_is_copied_at_once, "ibv_post_send(3)" },
	{ "data: zero length needs no key", data__zero_length_needs_no_key, IBA "9.7.4.1.1" },
	{ "data: read", data__read, IBA "9.4.4" },
	{ "data: send nothing", data__send_nothing, IBA "9.4.1" },
	{ "data: send small", data__send_small, IBA "9.4.1" },
	{ "data: send medium", data__send_medium, IBA "9.4.1" },
	{ "data: send large", data__send_large, IBA "9.4.1" },
	{ "data: send with immediate", data__send_with_immediate, IBA "9.4.1" },
	{ "data: write with immediate", data__write_with_immediate, IBA "9.4.3" },
	{ "data: fetch and add", data__fetch_and_add, IBA "9.4.5" },
	{ "data: compare and swap", data__compare_and_swap, IBA "9.4.5" },
	{ "data: gather and scatter", data__gather_and_scatter, IBA "10.7.2" },
	{ "data: completions in order", data__completions_in_order, IBA "10.8.3.3" },
	{ "data: unsignalled make no completion", data__unsignalled_make_no_completion, IBA "10.7.3.1" },
	{ "data: many full queues", data__many_full_queues, "ibv_post_send(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
