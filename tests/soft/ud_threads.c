// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two processes of two threads each, which share one queue pair for datagrams a process and send
 * each other numbers that the other side confirms. What is not confirmed in time is sent again, so
 * it ends on a device that loses datagrams and mixes them up too. Queue pairs and address handles
 * come and go beside it. It is for tools that watch threads. Usage: ud_threads [rounds]
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "datagrams.h"

enum {
	THREADS = 2,
	ROUNDS = 200,
	AGAIN_POLLS = 1000, /* in vain, then it is sent again, and then after twice as many each time, */
	AGAIN_MAX = 100000, /* but not more than so many */
	POLLS_MAX = 50000000,
	SLOT = 256, /* bytes of a receive */
	RECV_ID = 1 << 16,
};

/* What is in a datagram. */
struct word {
	uint32_t thread, number;
	uint32_t confirms;
};

static struct bench bench;
static uint32_t their_qpn;
static _Atomic uint32_t confirmed[THREADS]; /* the last number of each thread that has been */
static _Atomic uint32_t failures;
static uint32_t rounds = ROUNDS;

static void fail(const char *what)
{
	fprintf(stderr, "ud_threads: %s\n", what);
	atomic_fetch_add(&failures, 1);
}

/* 0, or ENOMEM where the queue is full: then it is as good as lost. */
static int say(const struct word *word)
{
	struct ibv_sge sge = { (uintptr_t)word, sizeof(*word), 0 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED
	};

	wr.wr.ud.ah = bench.ah;
	wr.wr.ud.remote_qpn = their_qpn;
	wr.wr.ud.remote_qkey = QKEY;
	return lab_post(bench.lab.a.qp, &wr);
}

static void hear(const struct ibv_wc *wc)
{
	uint64_t at = wc->wr_id - RECV_ID;
	struct word word;

	memcpy(&word, bench.lab.a.buffer + at + GRH, sizeof(word));
	if (lab_recv(&bench.lab.a, wc->wr_id, at, SLOT) != 0)
		fail("a receive was refused");
	if (wc->byte_len != GRH + sizeof(word) || wc->src_qp != their_qpn || word.thread >= THREADS) {
		fail("a datagram is not what was sent");
	} else if (!word.confirms) {
		word.confirms = 1;
		say(&word);
	} else {
		uint32_t last = atomic_load(&confirmed[word.thread]);

		while (last < word.number && !atomic_compare_exchange_weak(&confirmed[word.thread], &last, word.number))
			;
	}
}

/* Look once; whosever completion it is. */
static void look(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(cq, 1, &wc) <= 0)
		return;
	if (wc.status != IBV_WC_SUCCESS)
		fail(ibv_wc_status_str(wc.status));
	else if (wc.opcode == IBV_WC_RECV)
		hear(&wc);
}

/* The device's own threads need a processor too. */
static void look_at_all(void)
{
	look(bench.lab.a.send_cq);
	look(bench.lab.a.recv_cq);
	sched_yield();
}

static void come_and_go(void)
{
	struct ibv_ah *ah = ibv_create_ah(bench.lab.a.pd, &bench.attr);
	struct ibv_qp *qp = ready_qp(&bench.lab.a, 0);

	if (!ah || !qp || ibv_destroy_ah(ah) != 0 || ibv_destroy_qp(qp) != 0)
		fail("objects could not be made or destroyed");
}

static void *work(void *arg)
{
	struct word word = { .thread = (uint32_t)(uintptr_t)arg };

	for (word.number = 1; word.number <= rounds && !atomic_load(&failures); word.number++) {
		int again = 0, wait = AGAIN_POLLS;

		for (int i = 0; atomic_load(&confirmed[word.thread]) < word.number && !atomic_load(&failures); i++) {
			if (i == again) {
				again += say(&word) == 0 ? wait : 1;
				wait = 2 * wait < AGAIN_MAX ? 2 * wait : AGAIN_MAX;
			}
			if (i == POLLS_MAX)
				fail("a datagram is never confirmed");
			look_at_all();
		}
		if (word.number % 8 == 0)
			come_and_go();
	}
	return NULL;
}

static bool exchange(int in, int out, uint32_t mine, uint32_t *theirs)
{
	return write(out, &mine, sizeof(mine)) == sizeof(mine) && read(in, theirs, sizeof(*theirs)) == sizeof(*theirs);
}

/* Confirm what the other side still sends, until it says that it is done too. */
static bool wait_for_other(int in, int out)
{
	char end = 'e';
	ssize_t n;

	if (write(out, &end, 1) != 1 || fcntl(in, F_SETFL, O_NONBLOCK) != 0)
		return false;
	while ((n = read(in, &end, 1)) < 0 && errno == EAGAIN)
		look_at_all();
	return n == 1;
}

static int side(int in, int out)
{
	pthread_t threads[THREADS];

	if (set_up(&bench) != LAB_PASSED)
		return 1;
	for (uint64_t i = 0; i < LAB_DEPTH; i++)
		if (lab_recv(&bench.lab.a, RECV_ID + i * SLOT, i * SLOT, SLOT) != 0)
			fail("a receive was refused");
	if (!exchange(in, out, bench.lab.a.qp->qp_num, &their_qpn))
		fail("the other side is not there");
	for (uintptr_t i = 0; i < THREADS && !failures; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			fail("no thread");
	for (int i = 0; i < THREADS && !failures; i++)
		pthread_join(threads[i], NULL);
	if (!wait_for_other(in, out))
		fail("the other side is gone");
	ibv_destroy_ah(bench.ah);
	ibv_destroy_qp(bench.lab.a.qp);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	int to[2], from[2], status, mine;
	pid_t child;

	if (argc > 1)
		rounds = (uint32_t)atoi(argv[1]);
	if (pipe(to) != 0 || pipe(from) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		close(to[1]);
		exit(side(to[0], from[1]));
	}
	close(from[1]);
	mine = side(from[0], to[1]);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return 1;
	printf("%u numbers of %d threads in 2 processes\n", rounds, THREADS);
	return mine;
}
