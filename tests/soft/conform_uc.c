// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conformance of unreliable connections. Whatever becomes of a request at the other side, its
 * requester gets a completion. So a request that must have no effect is followed by one that must
 * have an effect, which comes after it.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

#define RXE_RESP "Linux, drivers/infiniband/sw/rxe: rxe_responder"

enum {
	NOBODY = 0xfedcb, /* no queue pair has this number, it is hoped */
};

static const struct lab_options plain = { .type = IBV_QPT_UC };

/* ---- setting up ---- */

static struct ibv_qp *new_qp(struct lab_side *side)
{
	return lab_qp(side, &plain);
}

static int join(struct lab *lab, struct ibv_qp *qp, uint32_t peer, unsigned int access)
{
	int err = lab_init(lab, qp, access);

	if (!err)
		err = lab_rtr(lab, qp, peer, &plain);
	return err ? err : lab_rts(qp, &plain);
}

static void set_up_with(struct lab *lab, struct lab_options options)
{
	options.type = IBV_QPT_UC;
	lab_setup(lab, &options);
}

static void set_up(struct lab *lab)
{
	set_up_with(lab, plain);
}

/* ---- acting ---- */

static bool done(struct lab *lab)
{
	return lab_wait(lab->a.send_cq).status == IBV_WC_SUCCESS;
}

static bool send_is_done(struct lab *lab, uint64_t at, uint32_t length)
{
	return lab_rdma(lab, IBV_WR_SEND, at, 0, length, IBV_SEND_SIGNALED) == 0 && done(lab);
}

static bool arrived(const struct ibv_wc *wc, uint64_t wr_id, uint32_t length)
{
	return wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV && wc->wr_id == wr_id && wc->byte_len == length;
}

/* Both go on as if nothing had been: a send takes this receive. */
static enum lab_verdict next_arrives(struct lab *lab, uint64_t wr_id)
{
	struct ibv_wc wc;

	CHECK(send_is_done(lab, 0, 8));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, wr_id, 8));
	CHECK(lab_state(lab->a.qp) == IBV_QPS_RTS && lab_state(lab->b.qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

/* ---- what works ---- */

static enum lab_verdict uc__write(void)
{
	struct lab lab;
	enum lab_verdict verdict;

	set_up(&lab);
	CHECK(lab_recv(&lab.b, 1, 32768, 64) == 0);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 1, 10000, IBV_SEND_SIGNALED) == 0 && done(&lab));
	verdict = next_arrives(&lab, 1);
	CHECK(lab.b.buffer[0] == 'b' && lab.b.buffer[1] == 'a' && lab.b.buffer[10000] == 'a' && lab.b.buffer[10001] == 'b');
	return verdict;
}

static enum lab_verdict send_once(uint32_t length)
{
	struct lab lab;
	struct ibv_wc wc;

	set_up(&lab);
	CHECK(lab_recv(&lab.b, 42, 0, LAB_BUFFER) == 0 && send_is_done(&lab, 0, length));
	wc = lab_wait(lab.b.recv_cq);
	CHECK(arrived(&wc, 42, length) && wc.qp_num == lab.b.qp->qp_num && !(wc.wc_flags & IBV_WC_WITH_IMM));
	CHECK(lab.b.buffer[length - 1] == 'a' && (length == LAB_BUFFER || lab.b.buffer[length] == 'b'));
	return LAB_PASSED;
}

static enum lab_verdict uc__send_small(void)
{
	return send_once(100);
}

static enum lab_verdict uc__send_large(void)
{
	return send_once(LAB_BUFFER);
}

static enum lab_verdict with_immediate(enum ibv_wr_opcode op, enum ibv_wc_opcode expected)
{
	struct lab lab;

	set_up(&lab);
	return lab_with_immediate(&lab, op, expected);
}

static enum lab_verdict uc__send_with_immediate(void)
{
	return with_immediate(IBV_WR_SEND_WITH_IMM, IBV_WC_RECV);
}

static enum lab_verdict uc__write_with_immediate(void)
{
	return with_immediate(IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RECV_RDMA_WITH_IMM);
}

static enum lab_verdict uc__completions_in_order(void)
{
	struct lab lab;

	set_up(&lab);
	for (uint64_t i = 0; i < 8; i++)
		CHECK(lab_recv(&lab.b, i, 1024 * i, 512) == 0);
	for (uint64_t i = 0; i < LAB_DEPTH; i++)
		CHECK(lab_rdma(&lab, i % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, i, 32768 + 1024 * i, 8, IBV_SEND_SIGNALED) == 0);
	for (uint64_t i = 0; i < LAB_DEPTH; i++) {
		struct ibv_wc wc = lab_wait(lab.a.send_cq);

		CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == i);
	}
	for (uint64_t i = 0; i < 8; i++)
		CHECK(lab_wait(lab.b.recv_cq).wr_id == i);
	return LAB_PASSED;
}

static enum lab_verdict uc__extended_work_requests(void)
{
	struct lab lab;
	struct ibv_qp_ex *ex;

	set_up_with(&lab, (struct lab_options){ .send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE });
	ex = ibv_qp_to_qp_ex(lab.a.qp);
	CHECK(ex && lab_recv(&lab.b, 1, 4096, 64) == 0);
	ibv_wr_start(ex);
	ex->wr_id = 5;
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, lab.b.mr->rkey, (uintptr_t)lab.b.buffer);
	ibv_wr_set_sge(ex, lab.a.mr->lkey, (uintptr_t)lab.a.buffer, 12);
	ex->wr_id = 6;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, lab.a.mr->lkey, (uintptr_t)lab.a.buffer, 20);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(lab_wait(lab.a.send_cq).wr_id == 6 && lab_wait(lab.b.recv_cq).byte_len == 20);
	CHECK(memcmp(lab.b.buffer, "aaaaaaaaaaaab", 13) == 0);
	return LAB_PASSED;
}

static enum lab_verdict uc__extended_has_no_reads(void)
{
	static const struct lab_options reads = { .type = IBV_QPT_UC, .send_ops = IBV_QP_EX_WITH_RDMA_READ };
	struct lab lab;

	set_up(&lab);
	errno = 0;
	CHECK(!lab_qp(&lab.a, &reads) && errno == EOPNOTSUPP);
	return LAB_PASSED;
}

/* ---- what is lost ---- */

static enum lab_verdict uc__no_receive_posted(void)
{
	struct lab lab;

	set_up(&lab);
	CHECK(send_is_done(&lab, 0, 100) && send_is_done(&lab, 0, 5000));
	/* What comes behind them has arrived, so they have gone by. */
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 40000, 1, IBV_SEND_SIGNALED) == 0 && done(&lab));
	for (int i = 0; i < 100000000 && *(volatile uint8_t *)(lab.b.buffer + 40000) != 'a'; i++)
		;
	CHECK(lab_recv(&lab.b, 1, 0, 64) == 0);
	return next_arrives(&lab, 1);
}

static enum lab_verdict too_long(uint32_t length)
{
	struct lab lab;

	set_up(&lab);
	CHECK(lab_recv(&lab.b, 1, 0, 16) == 0 && lab_recv(&lab.b, 2, 1024, 16) == 0);
	CHECK(send_is_done(&lab, 0, length));
	return next_arrives(&lab, 1);
}

static enum lab_verdict uc__receive_too_small(void)
{
	return too_long(100);
}

static enum lab_verdict uc__receive_much_too_small(void)
{
	return too_long(50000);
}

static enum lab_verdict uc__shared_receive_too_small(void)
{
	struct lab lab;
	struct ibv_wc wc;

	set_up_with(&lab, (struct lab_options){ .srq = true });
	CHECK(lab_recv(&lab.b, 1, 0, 16) == 0 && lab_recv(&lab.b, 2, 1024, 16) == 0);
	CHECK(send_is_done(&lab, 0, 100));
	wc = lab_wait(lab.b.recv_cq);
	CHECK(wc.status == IBV_WC_REM_INV_REQ_ERR && wc.wr_id == 1);
	return next_arrives(&lab, 2);
}

/* A write that must have no effect. */
static enum lab_verdict write_is_lost(struct lab_options options, uint32_t wrong_key, uint64_t remote_at)
{
	struct lab lab;
	enum lab_verdict verdict;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	set_up_with(&lab, options);
	CHECK(lab_recv(&lab.b, 1, 0, 64) == 0);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 5000, lab.a.mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer + remote_at;
	wr.wr.rdma.rkey = lab.b.mr->rkey ^ wrong_key;
	CHECK(lab_post(lab.a.qp, &wr) == 0 && done(&lab));
	verdict = next_arrives(&lab, 1);
	CHECK(lab.b.buffer[remote_at] == 'b' && lab.b.buffer[LAB_BUFFER - 1] == 'b');
	return verdict;
}

static enum lab_verdict uc__bad_rkey(void)
{
	return write_is_lost(plain, 0x5a00, 8192);
}

static enum lab_verdict uc__beyond_the_region(void)
{
	return write_is_lost(plain, 0, LAB_BUFFER - 4000);
}

static enum lab_verdict uc__queue_pair_without_remote_write(void)
{
	return write_is_lost((struct lab_options){ .qp_access = IBV_ACCESS_REMOTE_READ }, 0, 8192);
}

static enum lab_verdict uc__region_without_remote_write(void)
{
	return write_is_lost((struct lab_options){ .mr_access = IBV_ACCESS_LOCAL_WRITE }, 0, 8192);
}

/* Nor is a receive taken for it. */
static enum lab_verdict uc__bad_rkey_with_immediate(void)
{
	struct lab lab;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .send_flags = IBV_SEND_SIGNALED
	};

	set_up(&lab);
	CHECK(lab_recv(&lab.b, 1, 0, 64) == 0);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 40000, lab.a.mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer + 8192;
	wr.wr.rdma.rkey = lab.b.mr->rkey ^ 0x5a00;
	CHECK(lab_post(lab.a.qp, &wr) == 0 && done(&lab));
	return next_arrives(&lab, 1);
}

/* The other queue pair is there and does not listen. */
static enum lab_verdict uc__silent_peer(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct lab lab;

	set_up(&lab);
	CHECK(ibv_modify_qp(lab.b.qp, &attr, IBV_QP_STATE) == 0);
	for (int i = 0; i < 40; i++)
		CHECK(lab_rdma(&lab, i % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, 0, 0, 5000, IBV_SEND_SIGNALED) == 0 &&
		      done(&lab));
	CHECK(lab_state(lab.a.qp) == IBV_QPS_RTS && lab.b.buffer[0] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict uc__unknown_peer(void)
{
	struct lab lab;

	set_up(&lab);
	lab.a.qp = new_qp(&lab.a);
	CHECK(lab.a.qp && join(&lab, lab.a.qp, NOBODY, 0) == 0);
	for (int i = 0; i < 40; i++)
		CHECK(lab_rdma(&lab, i % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, 0, 0, 5000, IBV_SEND_SIGNALED) == 0 &&
		      done(&lab));
	CHECK(lab_state(lab.a.qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

/* A queue pair that listens to ours; it says its number and waits to be killed. */
static void be_killed(int in, int out)
{
	struct lab lab;
	uint32_t peer;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing case leaves no process behind */
	set_up(&lab);
	lab.b.qp = new_qp(&lab.b);
	if (!lab.b.qp || write(out, &lab.b.qp->qp_num, sizeof(peer)) != sizeof(peer) ||
	    read(in, &peer, sizeof(peer)) != sizeof(peer) || join(&lab, lab.b.qp, peer, 0) != 0 || write(out, "r", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* A's queue pair anew, connected to one of another process, which will be killed. */
static enum lab_verdict connect_to_mortal(struct lab *lab, pid_t *child)
{
	int to[2], from[2];
	uint32_t peer;
	char ready;

	CHECK(pipe(to) == 0 && pipe(from) == 0);
	*child = fork();
	if (*child == 0)
		be_killed(to[0], from[1]);
	set_up(lab);
	lab->a.qp = new_qp(&lab->a);
	CHECK(lab->a.qp && read(from[0], &peer, sizeof(peer)) == sizeof(peer));
	CHECK(write(to[1], &lab->a.qp->qp_num, sizeof(peer)) == sizeof(peer) && read(from[0], &ready, 1) == 1);
	CHECK(join(lab, lab->a.qp, peer, 0) == 0);
	return LAB_PASSED;
}

static enum lab_verdict uc__dead_process(void)
{
	enum { SENDS = 500 };
	struct lab lab;
	pid_t child;

	CHECK(connect_to_mortal(&lab, &child) == LAB_PASSED);
	for (int i = 0; i < SENDS; i++) {
		if (i == SENDS / 3)
			CHECK(kill(child, SIGKILL) == 0);
		if (i == SENDS / 2)
			CHECK(waitpid(child, NULL, 0) == child);
		CHECK(lab_rdma(&lab, i % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, 0, 0, 5000, IBV_SEND_SIGNALED) == 0 &&
		      done(&lab));
	}
	CHECK(lab_state(lab.a.qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

/* ---- what needs no peer ---- */

/* A window on a's buffer is bound by a's queue pair. 0 or an errno value. */
static int post_bind(struct lab *lab, struct ibv_mw *mw)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED };

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ .mr = lab->a.mr,
		                                              .addr = (uintptr_t)lab->a.buffer,
		                                              .length = LAB_BUFFER,
		                                              .mw_access_flags = IBV_ACCESS_REMOTE_WRITE };
	return lab_post(lab->a.qp, &wr);
}

static int post_invalidate(struct lab *lab, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED };

	wr.invalidate_rkey = rkey;
	return lab_post(lab->a.qp, &wr);
}

/* A window that is bound cannot be bound again, so the first time it was. */
static enum lab_verdict binds_once(struct lab *lab, struct ibv_mw *mw)
{
	CHECK(done(lab));
	CHECK(post_bind(lab, mw) == 0 && lab_wait(lab->a.send_cq).status == IBV_WC_MW_BIND_ERR);
	CHECK(lab_state(lab->a.qp) == IBV_QPS_ERR);
	return LAB_PASSED;
}

static enum lab_verdict uc__window_and_unknown_peer(void)
{
	struct ibv_mw *mw;
	struct lab lab;

	set_up(&lab);
	lab.a.qp = new_qp(&lab.a);
	mw = ibv_alloc_mw(lab.a.pd, IBV_MW_TYPE_2);
	if (!mw)
		return LAB_UNSUPPORTED;
	CHECK(lab.a.qp && join(&lab, lab.a.qp, NOBODY, 0) == 0 && post_bind(&lab, mw) == 0);
	return binds_once(&lab, mw);
}

/* A window, and a connection to a process that will be killed. */
static enum lab_verdict window_and_mortal(struct lab *lab, pid_t *child, struct ibv_mw **mw)
{
	CHECK(connect_to_mortal(lab, child) == LAB_PASSED);
	*mw = ibv_alloc_mw(lab->a.pd, IBV_MW_TYPE_2);
	return *mw ? LAB_PASSED : LAB_UNSUPPORTED;
}

/* It is bound behind a request that no process answers. */
static enum lab_verdict uc__window_and_dead_process(void)
{
	enum lab_verdict verdict;
	struct ibv_mw *mw;
	struct lab lab;
	pid_t child;

	verdict = window_and_mortal(&lab, &child, &mw);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, NULL, WUNTRACED) == child);
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 8, IBV_SEND_SIGNALED) == 0 && post_bind(&lab, mw) == 0);
	CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child && done(&lab));
	return binds_once(&lab, mw);
}

/* A key that is taken back is not there to be taken back again. */
static enum lab_verdict uc__invalidation_and_dead_process(void)
{
	enum ibv_wc_status status;
	enum lab_verdict verdict;
	struct ibv_mw *mw;
	uint32_t rkey;
	struct lab lab;
	pid_t child;

	verdict = window_and_mortal(&lab, &child, &mw);
	if (verdict != LAB_PASSED)
		return verdict;
	rkey = ibv_inc_rkey(mw->rkey);
	CHECK(post_bind(&lab, mw) == 0 && done(&lab));
	CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, NULL, WUNTRACED) == child);
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(post_invalidate(&lab, rkey) == 0);
	CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child && done(&lab) && done(&lab));
	CHECK(post_invalidate(&lab, rkey) == 0);
	status = lab_wait(lab.a.send_cq).status;
	CHECK(status == IBV_WC_LOC_QP_OP_ERR || status == IBV_WC_MW_BIND_ERR);
	CHECK(lab_state(lab.a.qp) == IBV_QPS_ERR);
	return LAB_PASSED;
}

/* ---- what fails ---- */

static enum lab_verdict not_done(enum ibv_wr_opcode op)
{
	struct lab lab;

	set_up(&lab);
	CHECK(lab_rdma(&lab, op, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_LOC_QP_OP_ERR);
	CHECK(lab_state(lab.a.qp) == IBV_QPS_ERR && lab.a.buffer[0] == 'a' && lab.b.buffer[0] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict uc__read(void)
{
	return not_done(IBV_WR_RDMA_READ);
}

static enum lab_verdict uc__atomic(void)
{
	return not_done(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static enum lab_verdict uc__receive_beyond_the_region(void)
{
	struct lab lab;
	enum ibv_wc_status status;

	set_up(&lab);
	CHECK(lab_recv(&lab.b, 1, LAB_BUFFER - 50, 256) == 0 && send_is_done(&lab, 0, 100));
	status = lab_wait(lab.b.recv_cq).status;
	CHECK(status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_LOC_QP_OP_ERR);
	CHECK(lab_state(lab.b.qp) == IBV_QPS_ERR && send_is_done(&lab, 0, 100));
	return LAB_PASSED;
}

static enum lab_verdict uc__states(void)
{
	struct lab lab;
	struct ibv_qp *qp;

	lab_setup(&lab, NULL);
	qp = new_qp(&lab.a);
	CHECK(qp && lab_init(&lab, qp, 0) == 0);
	CHECK(lab_rtr(&lab, qp, lab.b.qp->qp_num, &(struct lab_options){ 0 }) == EINVAL);
	CHECK(lab_rtr(&lab, qp, lab.b.qp->qp_num, &plain) == 0);
	CHECK(lab_rts(qp, &(struct lab_options){ 0 }) == EINVAL);
	CHECK(lab_rts(qp, &plain) == 0 && lab_state(qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "uc: write", uc__write, "ibv_post_send(3)" },
	{ "uc: send small", uc__send_small, "ibv_post_send(3)" },
	{ "uc: send large", uc__send_large, "ibv_post_send(3)" },
	{ "uc: send with immediate", uc__send_with_immediate, "ibv_post_send(3)" },
	{ "uc: write with immediate", uc__write_with_immediate, "ibv_post_send(3)" },
	{ "uc: completions in order", uc__completions_in_order, "ibv_poll_cq(3)" },
	{ "uc: extended work requests", uc__extended_work_requests, "ibv_wr_post(3)" },
	{ "uc: extended has no reads", uc__extended_has_no_reads, "ibv_create_qp_ex(3)" },
	{ "uc: no receive posted", uc__no_receive_posted, RXE_RESP },
	{ "uc: receive too small", uc__receive_too_small, RXE_RESP },
	{ "uc: receive much too small", uc__receive_much_too_small, RXE_RESP },
	{ "uc: shared receive too small", uc__shared_receive_too_small, RXE_RESP },
	{ "uc: bad rkey", uc__bad_rkey, RXE_RESP },
	{ "uc: beyond the region", uc__beyond_the_region, RXE_RESP },
	{ "uc: queue pair without remote write", uc__queue_pair_without_remote_write, RXE_RESP },
	{ "uc: region without remote write", uc__region_without_remote_write, RXE_RESP },
	{ "uc: bad rkey with immediate", uc__bad_rkey_with_immediate, RXE_RESP },
	{ "uc: silent peer", uc__silent_peer, "ibv_post_send(3)" },
	{ "uc: unknown peer", uc__unknown_peer, "ibv_post_send(3)" },
	{ "uc: dead process", uc__dead_process, "ibv_post_send(3)" },
	{ "uc: window and unknown peer", uc__window_and_unknown_peer, "ibv_bind_mw(3)" },
	{ "uc: window and dead process", uc__window_and_dead_process, "ibv_bind_mw(3)" },
	{ "uc: invalidation and dead process", uc__invalidation_and_dead_process, "ibv_post_send(3)" },
	{ "uc: read", uc__read, "ibv_post_send(3)" },
	{ "uc: atomic", uc__atomic, "ibv_post_send(3)" },
	{ "uc: receive beyond the region", uc__receive_beyond_the_region, RXE_RESP },
	{ "uc: states", uc__states, "ibv_modify_qp(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
