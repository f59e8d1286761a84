// SPDX-License-Identifier: BSD-2-Clause
/* The bench of the conformance suite; see lab.h. */
#include "lab.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../slowness.h"

enum {
	CASE_SECONDS = 100, /* where nothing hangs, and no process gets a processor for a while */
	WAIT_MS = 10000,    /* some cases wait in vain on a card, as their verdict says */
	TIMES = 5,          /* a case that is late is run */
	ALL_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	DEPTH_RD = 4,
};

/* ---- running ---- */

/* The last completion that a case looked at, for the message when it is not the expected one. */
static struct ibv_wc last;

enum lab_verdict lab_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "        %s:%d: not true: %s (errno %d; last completion: status %d, opcode %d)\n", file, line, what,
	        errno, (int)last.status, (int)last.opcode);
	return LAB_FAILED;
}

static enum lab_verdict run_case(const struct lab_case *c)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(CASE_SECONDS * (unsigned)slowness());
		_exit((int)c->run());
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return LAB_FAILED;
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "        killed by signal %d\n", WTERMSIG(status));
		return LAB_FAILED;
	}
	return (enum lab_verdict)WEXITSTATUS(status);
}

/* A case that is in time once is. */
static enum lab_verdict run_in_time(const struct lab_case *c)
{
	enum lab_verdict verdict = LAB_LATE;

	for (int i = 0; i < TIMES && verdict == LAB_LATE; i++)
		verdict = run_case(c);
	return verdict;
}

int lab_main(int argc, char **argv, const struct lab_case *cases, int n)
{
	static const char *const names[] = { "passed", "failed", "unsupported" };
	int count[3] = { 0 };

	for (int i = 0; i < n; i++) {
		enum lab_verdict verdict;

		if (argc > 1 && !strstr(cases[i].name, argv[1]))
			continue;
		verdict = run_in_time(&cases[i]);
		if ((unsigned int)verdict > LAB_UNSUPPORTED)
			verdict = LAB_FAILED;
		count[verdict]++;
		printf("%-12s %-44s %s\n", names[verdict], cases[i].name, cases[i].source);
	}
	printf("%d passed, %d failed, %d unsupported\n", count[0], count[1], count[2]);
	return count[LAB_FAILED] ? 1 : 0;
}

/* ---- setting up ---- */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "        cannot set up: %s: %s\n", what, strerror(errno));
	_exit(LAB_FAILED);
}

struct ibv_context *lab_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	if (!list || !list[0])
		_exit(LAB_UNSUPPORTED);
	ctx = ibv_open_device(list[0]);
	must(ctx != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	return ctx;
}

/* Ethernet needs a GID; the one made of an IPv4 address is there on every such port. */
static void find_address(struct lab *lab)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_port_attr port;

	must(ibv_query_port(lab->ctx, 1, &port) == 0, "ibv_query_port");
	lab->lid = port.lid;
	lab->gid_index = -1;
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return;
	for (int i = 0; i < port.gid_tbl_len; i++) {
		if (ibv_query_gid(lab->ctx, 1, i, &lab->gid) == 0 && memcmp(lab->gid.raw, mapped, sizeof(mapped)) == 0) {
			lab->gid_index = i;
			return;
		}
	}
	must(ibv_query_gid(lab->ctx, 1, 0, &lab->gid) == 0, "ibv_query_gid");
	lab->gid_index = 0;
}

static bool is_unreliable(const struct lab_options *options)
{
	return options->type == IBV_QPT_UC;
}

static uint32_t depth_of(const struct lab_options *options)
{
	return options->depth ? options->depth : LAB_DEPTH;
}

struct ibv_qp *lab_qp(struct lab_side *side, const struct lab_options *options)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = side->send_cq,
		.recv_cq = side->recv_cq,
		.srq = side->srq,
		.cap = { .max_send_wr = depth_of(options),
		         .max_recv_wr = depth_of(options),
		         .max_send_sge = 4,
		         .max_recv_sge = 4,
		         .max_inline_data = LAB_INLINE },
		.qp_type = is_unreliable(options) ? IBV_QPT_UC : IBV_QPT_RC,
		.sq_sig_all = options->sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = side->pd,
	};

	if (options->send_ops) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = options->send_ops;
	}
	return ibv_create_qp_ex(side->pd->context, &init);
}

static void setup_side(struct lab *lab, struct lab_side *side, const struct lab_options *options, bool is_b)
{
	unsigned int access = is_b && options->mr_access ? options->mr_access : ALL_ACCESS | IBV_ACCESS_MW_BIND;
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = depth_of(options), .max_sge = 4 } };
	struct ibv_pd *mr_pd;

	side->pd = ibv_alloc_pd(lab->ctx);
	must(side->pd != NULL, "ibv_alloc_pd");
	mr_pd = is_b && options->own_pds ? ibv_alloc_pd(lab->ctx) : side->pd;
	must(posix_memalign((void **)&side->buffer, 4096, LAB_BUFFER) == 0, "memory");
	memset(side->buffer, is_b ? 'b' : 'a', LAB_BUFFER);
	side->mr = ibv_reg_mr(mr_pd, side->buffer, LAB_BUFFER, access);
	must(side->mr != NULL, "ibv_reg_mr");
	side->send_cq = ibv_create_cq(lab->ctx, !is_b && options->cqe ? options->cqe : LAB_CQE, NULL, lab->channel, 0);
	side->recv_cq = ibv_create_cq(lab->ctx, LAB_CQE, NULL, lab->channel, 0);
	must(side->send_cq && side->recv_cq, "ibv_create_cq");
	if (is_b && options->srq) {
		side->srq = ibv_create_srq(side->pd, &srq);
		must(side->srq != NULL, "ibv_create_srq");
	}
}

int lab_init(struct lab *lab, struct ibv_qp *qp, unsigned int access)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access };

	(void)lab;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int lab_rtr(struct lab *lab, struct ibv_qp *qp, uint32_t peer, const struct lab_options *options)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.max_dest_rd_atomic = options->no_depth ? 0 : DEPTH_RD,
		.min_rnr_timer = options->min_rnr_timer ? options->min_rnr_timer : 1,
		.ah_attr = { .dlid = lab->lid, .port_num = 1 },
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (lab->gid_index >= 0) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = lab->gid;
		attr.ah_attr.grh.sgid_index = (uint8_t)lab->gid_index;
		attr.ah_attr.grh.hop_limit = 1;
	}
	if (!is_unreliable(options))
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

int lab_rts(struct ibv_qp *qp, const struct lab_options *options)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = options->timeout ? options->timeout : 12,
		.retry_cnt = options->retry_cnt ? options->retry_cnt : 3,
		.rnr_retry = options->rnr_retry,
		.max_rd_atomic = DEPTH_RD,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (!is_unreliable(options))
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

void lab_setup(struct lab *lab, const struct lab_options *options)
{
	static const struct lab_options none;
	const struct lab_options *o = options ? options : &none;
	struct lab_options plain = *o;

	memset(lab, 0, sizeof(*lab));
	lab->ctx = lab_open();
	find_address(lab);
	lab->channel = ibv_create_comp_channel(lab->ctx);
	must(lab->channel != NULL, "ibv_create_comp_channel");
	setup_side(lab, &lab->a, o, false);
	setup_side(lab, &lab->b, o, true);
	lab->a.qp = lab_qp(&lab->a, o);
	if (!lab->a.qp && o->send_ops && errno == EOPNOTSUPP)
		_exit(LAB_UNSUPPORTED);
	plain.send_ops = 0;
	lab->b.qp = lab_qp(&lab->b, &plain);
	must(lab->a.qp && lab->b.qp, "queue pairs");
	must((errno = lab_init(lab, lab->a.qp, ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE)) == 0, "init");
	must((errno = lab_init(lab, lab->b.qp, o->qp_access ? o->qp_access : ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE)) == 0,
	     "init");
	must((errno = lab_rtr(lab, lab->a.qp, lab->b.qp->qp_num, &plain)) == 0, "rtr");
	must((errno = lab_rtr(lab, lab->b.qp, lab->a.qp->qp_num, o)) == 0, "rtr");
	must((errno = lab_rts(lab->a.qp, o)) == 0, "rts");
	must((errno = lab_rts(lab->b.qp, o)) == 0, "rts");
}

/* ---- acting ---- */

int lab_post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, wr, &bad);
}

int lab_rdma(struct lab *lab, enum ibv_wr_opcode op, uint64_t at, uint64_t remote_at, uint32_t length,
             unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)lab->a.buffer + at, length, lab->a.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = at, .sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = flags };

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD || op == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = (uintptr_t)lab->b.buffer + remote_at;
		wr.wr.atomic.rkey = lab->b.mr->rkey;
		wr.wr.atomic.compare_add = 5;
		wr.wr.atomic.swap = 99;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)lab->b.buffer + remote_at;
		wr.wr.rdma.rkey = lab->b.mr->rkey;
	}
	return lab_post(lab->a.qp, &wr);
}

int lab_recv(struct lab_side *side, uint64_t wr_id, uint64_t at, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)side->buffer + at, length, side->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };

	return side->srq ? ibv_post_srq_recv(side->srq, &wr, &bad) : ibv_post_recv(side->qp, &wr, &bad);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

struct ibv_wc lab_wait(struct ibv_cq *cq)
{
	struct ibv_wc wc = { .status = (enum ibv_wc_status) - 1 };
	int64_t until = now_ms() + WAIT_MS;

	while (ibv_poll_cq(cq, 1, &wc) == 0) {
		if (now_ms() > until) {
			wc.status = (enum ibv_wc_status) - 1;
			break;
		}
	}
	last = wc;
	return wc;
}

enum lab_verdict lab_with_immediate(struct lab *lab, enum ibv_wr_opcode op, enum ibv_wc_opcode expected)
{
	struct ibv_sge sge = { (uintptr_t)lab->a.buffer, 64, lab->a.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc;

	wr.imm_data = 0x12345678;
	wr.wr.rdma.remote_addr = (uintptr_t)lab->b.buffer;
	wr.wr.rdma.rkey = lab->b.mr->rkey;
	CHECK(lab_recv(&lab->b, 9, 0, 64) == 0 && lab_post(lab->a.qp, &wr) == 0);
	CHECK(lab_wait(lab->a.send_cq).status == IBV_WC_SUCCESS);
	wc = lab_wait(lab->b.recv_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == expected && wc.byte_len == 64 && wc.wr_id == 9);
	CHECK(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == 0x12345678);
	CHECK(lab->b.buffer[0] == 'a' && lab->b.buffer[63] == 'a' && lab->b.buffer[64] == 'b');
	return LAB_PASSED;
}

int lab_event(struct lab *lab)
{
	struct pollfd ready = { .fd = lab->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&ready, 1, WAIT_MS) != 1 || ibv_get_async_event(lab->ctx, &event) != 0)
		return -1;
	ibv_ack_async_event(&event);
	return (int)event.event_type;
}

enum ibv_qp_state lab_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 ? attr.qp_state : IBV_QPS_UNKNOWN;
}
