// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer that lives but does not run: stopped, or without a processor. However long that lasts,
 * nothing fails; when it is killed, all that waited for it fails soon.
 */
#include "lab.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A peer that goes on has two seconds to connect. */
static const struct lab_options defaults = { .retry_cnt = 7, .timeout = 16 };

enum {
	QPS = 2,
	LENGTH = 64,
	QUIET_MS = 300,
	SOON_MS = 1000,
};

/* What one side tells the other over a pipe. */
struct card {
	uint32_t qpn[QPS], rkey;
	uint64_t addr;
};

struct bench {
	struct lab lab;
	struct ibv_qp *qp[QPS];
	struct card theirs;
	pid_t child;
	int in, out;
};

static bool tell_card(struct bench *b)
{
	struct card mine = { .rkey = b->lab.a.mr->rkey, .addr = (uintptr_t)b->lab.a.buffer };

	for (int i = 0; i < QPS; i++) {
		b->qp[i] = lab_qp(&b->lab.a, &defaults);
		if (!b->qp[i] || lab_init(&b->lab, b->qp[i], IBV_ACCESS_REMOTE_WRITE) != 0)
			return false;
		mine.qpn[i] = b->qp[i]->qp_num;
	}
	return write(b->out, &mine, sizeof(mine)) == sizeof(mine) &&
	       read(b->in, &b->theirs, sizeof(b->theirs)) == sizeof(b->theirs);
}

static bool connect_one(struct bench *b, int i)
{
	return lab_rtr(&b->lab, b->qp[i], b->theirs.qpn[i], &defaults) == 0 && lab_rts(b->qp[i], &defaults) == 0;
}

static bool connect_all(struct bench *b)
{
	bool connected = true;

	for (int i = 0; i < QPS; i++)
		connected = connected && connect_one(b, i);
	return connected;
}

/* Posts receives, stops, and connects, or connects first; goes on until its parent has had enough. */
static int peer(int in, int out, bool connects_first)
{
	struct bench b = { .in = in, .out = out };
	char end;

	lab_setup(&b.lab, NULL);
	if (!tell_card(&b) || (connects_first && !connect_all(&b)))
		return 1;
	for (int i = 0; i < QPS; i++) {
		struct ibv_sge sge = { (uintptr_t)b.lab.a.buffer, LENGTH, b.lab.a.mr->lkey };
		struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

		if (ibv_post_recv(b.qp[i], &wr, &bad) != 0)
			return 1;
	}
	raise(SIGSTOP);
	if (!connects_first && !connect_all(&b))
		return 1;
	return read(in, &end, 1) == 1 ? 0 : 1;
}

static enum lab_verdict with_peer(struct bench *b, bool connects_first)
{
	int to[2], from[2], status;

	CHECK(pipe(to) == 0 && pipe(from) == 0);
	b->child = fork();
	if (b->child == 0)
		_exit(peer(to[0], from[1], connects_first));
	CHECK(b->child > 0);
	b->in = from[0];
	b->out = to[1];
	lab_setup(&b->lab, NULL);
	CHECK(tell_card(b));
	CHECK(waitpid(b->child, &status, WUNTRACED) == b->child && WIFSTOPPED(status));
	return LAB_PASSED;
}

/* A peer that stops before either side has connected. */
static enum lab_verdict with_stopped(struct bench *b)
{
	return with_peer(b, false);
}

static int post(struct bench *b, int i, enum ibv_wr_opcode op)
{
	struct ibv_sge sge = { (uintptr_t)b->lab.a.buffer, LENGTH, b->lab.a.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = IBV_SEND_SIGNALED };

	wr.wr.rdma.remote_addr = b->theirs.addr;
	wr.wr.rdma.rkey = b->theirs.rkey;
	return lab_post(b->qp[i], &wr);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Nothing has ended, for longer than all retries take. */
static bool nothing_ends(struct bench *b)
{
	struct timespec quiet = { .tv_nsec = QUIET_MS * 1000000L };
	struct ibv_wc wc;

	nanosleep(&quiet, NULL);
	return ibv_poll_cq(b->lab.a.send_cq, 1, &wc) == 0 && lab_state(b->qp[0]) == IBV_QPS_RTS;
}

static bool goes_on(struct bench *b)
{
	return kill(b->child, SIGCONT) == 0;
}

static bool ends_well(struct bench *b)
{
	int status;

	return write(b->out, "e", 1) == 1 && waitpid(b->child, &status, 0) == b->child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static bool is_killed(struct bench *b)
{
	int status;

	return kill(b->child, SIGKILL) == 0 && waitpid(b->child, &status, 0) == b->child;
}

static enum lab_verdict stopped__requests_wait_for_the_peer(void)
{
	int64_t began_ms;
	struct bench b;
	bool soon;

	CHECK(with_stopped(&b) == LAB_PASSED);
	began_ms = now_ms();
	for (int i = 0; i < QPS; i++)
		CHECK(connect_one(&b, i) && post(&b, i, IBV_WR_RDMA_WRITE) == 0 && post(&b, i, IBV_WR_SEND) == 0);
	soon = now_ms() - began_ms <= SOON_MS;
	CHECK(nothing_ends(&b));
	CHECK(goes_on(&b));
	for (int i = 0; i < 2 * QPS; i++)
		CHECK(lab_wait(b.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(ends_well(&b));
	return soon ? LAB_PASSED : LAB_LATE;
}

/* A peer that has connected is known: its memory needs no thread of it, a receive does. */
static enum lab_verdict stopped__connected_is_written_to(void)
{
	struct bench b;

	CHECK(with_peer(&b, true) == LAB_PASSED);
	CHECK(connect_one(&b, 0));
	CHECK(post(&b, 0, IBV_WR_RDMA_WRITE) == 0 && lab_wait(b.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(post(&b, 0, IBV_WR_SEND) == 0);
	CHECK(nothing_ends(&b));
	CHECK(goes_on(&b));
	CHECK(lab_wait(b.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(ends_well(&b));
	return LAB_PASSED;
}

/* Its first request is posted when it runs again. */
static enum lab_verdict stopped__later_requests_find_it(void)
{
	struct bench b;

	CHECK(with_stopped(&b) == LAB_PASSED);
	CHECK(connect_one(&b, 0));
	CHECK(goes_on(&b));
	CHECK(post(&b, 0, IBV_WR_SEND) == 0 && lab_wait(b.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(ends_well(&b));
	return LAB_PASSED;
}

static enum lab_verdict stopped__requests_under_way_wait(void)
{
	struct bench b;
	int status;

	CHECK(with_stopped(&b) == LAB_PASSED);
	CHECK(connect_one(&b, 0));
	CHECK(goes_on(&b));
	CHECK(post(&b, 0, IBV_WR_SEND) == 0 && lab_wait(b.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(kill(b.child, SIGSTOP) == 0 && waitpid(b.child, &status, WUNTRACED) == b.child);
	/* Its engine has answered before, and cannot now. */
	CHECK(connect_one(&b, 1) && post(&b, 1, IBV_WR_SEND) == 0);
	CHECK(nothing_ends(&b));
	CHECK(goes_on(&b));
	CHECK(lab_wait(b.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(ends_well(&b));
	return LAB_PASSED;
}

static enum lab_verdict stopped__killed_fails_what_waits(void)
{
	int64_t died_ms;
	struct bench b;

	CHECK(with_stopped(&b) == LAB_PASSED);
	CHECK(connect_one(&b, 0) && connect_one(&b, 1) && post(&b, 0, IBV_WR_SEND) == 0);
	CHECK(is_killed(&b));
	died_ms = now_ms();
	CHECK(lab_wait(b.lab.a.send_cq).status == IBV_WC_RETRY_EXC_ERR && lab_state(b.qp[0]) == IBV_QPS_ERR);
	/* The other one has asked for nothing, and gets the event all the same. */
	CHECK(lab_event(&b.lab) == IBV_EVENT_QP_FATAL && lab_state(b.qp[1]) == IBV_QPS_ERR);
	return now_ms() - died_ms <= SOON_MS ? LAB_PASSED : LAB_LATE;
}

/* A queue pair that is destroyed, or reset, while it waits is not there when the answer comes. */
static enum lab_verdict stopped__queue_pair_goes_first(void)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct bench b;

	CHECK(with_stopped(&b) == LAB_PASSED);
	CHECK(connect_one(&b, 0) && connect_one(&b, 1));
	CHECK(post(&b, 0, IBV_WR_SEND) == 0 && post(&b, 1, IBV_WR_SEND) == 0);
	CHECK(ibv_destroy_qp(b.qp[0]) == 0);
	CHECK(ibv_modify_qp(b.qp[1], &reset, IBV_QP_STATE) == 0);
	CHECK(goes_on(&b));
	CHECK(lab_init(&b.lab, b.qp[1], IBV_ACCESS_REMOTE_WRITE) == 0 && connect_one(&b, 1));
	CHECK(post(&b, 1, IBV_WR_SEND) == 0 && lab_wait(b.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(ends_well(&b));
	return LAB_PASSED;
}

/* Requests that a queue pair in SQD holds back have not been sent: they end with the queue pair. */
static enum lab_verdict stopped__killed_flushes_what_is_held_back(void)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD };
	struct bench b;

	CHECK(with_stopped(&b) == LAB_PASSED);
	CHECK(connect_one(&b, 0) && ibv_modify_qp(b.qp[0], &sqd, IBV_QP_STATE) == 0);
	CHECK(post(&b, 0, IBV_WR_SEND) == 0);
	CHECK(is_killed(&b));
	CHECK(lab_wait(b.lab.a.send_cq).status == IBV_WC_WR_FLUSH_ERR && lab_state(b.qp[0]) == IBV_QPS_ERR);
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "stopped: requests wait for the peer", stopped__requests_wait_for_the_peer, "lib/soft/engine/pipes.c" },
	{ "stopped: one that has connected is written to", stopped__connected_is_written_to, "lib/soft/engine/pipes.c" },
	{ "stopped: later requests find it", stopped__later_requests_find_it, "lib/soft/engine/pipes.c" },
	{ "stopped: requests under way wait", stopped__requests_under_way_wait, "lib/soft/engine/pipes.c" },
	{ "stopped: killed, what waits fails", stopped__killed_fails_what_waits, "lib/soft/engine/peer_events.c" },
	{ "stopped: killed flushes what is held back", stopped__killed_flushes_what_is_held_back,
	  "lib/soft/engine/peer_events.c" },
	{ "stopped: queue pair goes first", stopped__queue_pair_goes_first, "lib/soft/engine/pipes.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
