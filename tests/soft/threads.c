// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two processes of two threads each, all at work at once: one queue pair per thread, completion
 * queues and a protection domain for both, operations of every kind, regions and queue pairs that
 * come and go. It is for tools that watch threads: built with -fsanitize=thread, or run under
 * helgrind. With "uc" the connections are unreliable; nothing is lost all the same, since each send
 * finds a receive. Usage: threads [rounds [uc]]
 */
#include "lab.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 2,
	ROUNDS = 200,
	WORD = 8,
	SIZE = 4096, /* bytes of a thread's part of the buffer */
	KINDS = 4,
	POLLS_MAX = 50000000,
	RECV_ID = 1 << 16,
};

struct card {
	uint32_t qpn[THREADS], rkey;
	uint64_t addr;
};

static struct lab lab;
static struct card theirs;
static struct ibv_qp *qps[THREADS];
/* Completions seen, of each thread's queue pair, by whichever thread saw them. */
static _Atomic uint32_t sent[THREADS], received[THREADS];
static _Atomic uint32_t failures;
static uint32_t rounds = ROUNDS;
static struct lab_options options = { .rnr_retry = 7 };

static void fail(const char *what)
{
	fprintf(stderr, "threads: %s\n", what);
	atomic_fetch_add(&failures, 1);
}

/* Look once; whosever completion it is, it is counted. */
static void look(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(cq, 1, &wc) <= 0)
		return;
	if (wc.status != IBV_WC_SUCCESS)
		fail(ibv_wc_status_str(wc.status));
	atomic_fetch_add(wc.wr_id >= RECV_ID ? &received[wc.wr_id - RECV_ID] : &sent[wc.wr_id], 1);
}

static bool reached(uint32_t thread, uint32_t sends, uint32_t receives)
{
	return atomic_load(&sent[thread]) >= sends && atomic_load(&received[thread]) >= receives;
}

static bool wait_for(uint32_t thread, uint32_t sends, uint32_t receives)
{
	for (int i = 0; i < POLLS_MAX && !atomic_load(&failures); i++) {
		if (reached(thread, sends, receives))
			return true;
		look(lab.a.send_cq);
		look(lab.a.recv_cq);
	}
	return reached(thread, sends, receives);
}

static int post_recv(uint32_t thread)
{
	struct ibv_sge sge = { (uintptr_t)lab.a.buffer + thread * SIZE, WORD, lab.a.mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = RECV_ID + thread, .sg_list = &sge, .num_sge = 1 };

	return ibv_post_recv(qps[thread], &wr, &bad);
}

/* Each kind uses words of its own, here and there. */
static int post(uint32_t thread, uint32_t kind)
{
	static const enum ibv_wr_opcode reliable[KINDS] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		                                                IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND };
	static const enum ibv_wr_opcode unreliable[KINDS] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE,
		                                                  IBV_WR_SEND };
	const enum ibv_wr_opcode *ops = options.type == IBV_QPT_UC ? unreliable : reliable;
	uint64_t at = thread * SIZE + (kind + 1) * 64;
	struct ibv_sge sge = { (uintptr_t)lab.a.buffer + at + THREADS * SIZE, WORD, lab.a.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = thread, .sg_list = &sge, .num_sge = 1, .opcode = ops[kind], .send_flags = IBV_SEND_SIGNALED
	};

	if (ops[kind] == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = theirs.addr + at;
		wr.wr.atomic.rkey = theirs.rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = theirs.addr + at;
		wr.wr.rdma.rkey = theirs.rkey;
	}
	return lab_post(qps[thread], &wr);
}

/* Objects that come and go beside the traffic. */
static bool come_and_go(void)
{
	uint8_t *memory = aligned_alloc(4096, 4096);
	struct ibv_mr *mr = ibv_reg_mr(lab.a.pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct ibv_qp *qp = lab_qp(&lab.a, &options);
	bool ok = mr && qp && ibv_destroy_qp(qp) == 0 && ibv_dereg_mr(mr) == 0;

	free(memory);
	return ok;
}

static void *work(void *arg)
{
	uint32_t thread = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 1; i <= rounds && !atomic_load(&failures); i++) {
		for (uint32_t kind = 0; kind < KINDS; kind++)
			if (post(thread, kind) != 0)
				fail("a post was refused");
		if (!wait_for(thread, i * KINDS, i))
			fail("completions are missing");
		else if (post_recv(thread) != 0)
			fail("a receive was refused");
		if (i % 8 == 0 && !come_and_go())
			fail("objects could not be made or destroyed");
	}
	return NULL;
}

static bool exchange(int in, int out, const void *mine, void *other, size_t size)
{
	return write(out, mine, size) == (ssize_t)size && read(in, other, size) == (ssize_t)size;
}

static bool connect_all(int in, int out)
{
	struct card mine = { .rkey = lab.a.mr->rkey, .addr = (uintptr_t)lab.a.buffer };
	char here = 'r', there;

	for (int i = 0; i < THREADS; i++) {
		qps[i] = lab_qp(&lab.a, &options);
		if (!qps[i])
			return false;
		mine.qpn[i] = qps[i]->qp_num;
	}
	if (!exchange(in, out, &mine, &theirs, sizeof(mine)))
		return false;
	for (uint32_t i = 0; i < THREADS; i++)
		if (lab_init(&lab, qps[i], IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC) ||
		    post_recv(i) || post_recv(i) || lab_rtr(&lab, qps[i], theirs.qpn[i], &options) || lab_rts(qps[i], &options))
			return false;
	return exchange(in, out, &here, &there, 1);
}

static int side(int in, int out)
{
	pthread_t threads[THREADS];
	char here = 'd', there;

	lab_setup(&lab, NULL);
	if (!connect_all(in, out))
		fail("not connected");
	for (uintptr_t i = 0; i < THREADS && !failures; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			fail("no thread");
	for (int i = 0; i < THREADS && !failures; i++)
		pthread_join(threads[i], NULL);
	if (!exchange(in, out, &here, &there, 1))
		fail("the other side is gone");
	for (int i = 0; i < THREADS; i++)
		if (qps[i])
			ibv_destroy_qp(qps[i]);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	int to[2], from[2], status, mine;
	pid_t child;

	if (argc > 1)
		rounds = (uint32_t)atoi(argv[1]);
	if (argc > 2 && strcmp(argv[2], "uc") == 0)
		options.type = IBV_QPT_UC;
	if (pipe(to) != 0 || pipe(from) != 0)
		return 1;
	child = fork();
	if (child == 0)
		exit(side(to[0], from[1]));
	mine = side(from[0], to[1]);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return 1;
	printf("%u rounds of %d threads in 2 processes\n", rounds, THREADS);
	return mine;
}
