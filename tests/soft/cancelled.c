// SPDX-License-Identifier: BSD-2-Clause
/*
 * cancelled.c - a thread that is to be cancelled is not in the middle of a verbs call
 *
 * Posting, polling and softverbs_move are no places where it could be: they hold locks, and others
 * wait for those.
 */
#include <pthread.h>

#include "lab.h"
#include "two.h"

enum {
	BYTES = 1 << 20,
	POLLS_MAX = 100000000,
};

struct caller {
	struct two *two;
	uint32_t length;
	bool moves; /* by softverbs_move */
	bool done;
};

/* Owns the memory, of a file or private, and sleeps. */
static int owner(struct two *two, int file)
{
	struct ibv_mr *mr;

	lab_setup(&two->lab, NULL);
	mr = make_key(two, make_memory(BYTES, file), BYTES);
	return mr && meet(two, mr) && hear(two) ? 0 : 1;
}

/* Completes by polling alone: a thread that sleeps may be cancelled. */
static bool completes(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n = 0;

	for (int i = 0; n == 0 && i < POLLS_MAX; i++)
		n = ibv_poll_cq(cq, 1, &wc);
	return n == 1 && wc.status == IBV_WC_SUCCESS;
}

static void *call(void *arg)
{
	struct caller *caller = arg;
	struct two *two = caller->two;

	pthread_cancel(pthread_self());
	if (caller->moves)
		caller->done = find_move()(two->lab.a.qp, two->theirs.rkey, two->theirs.addr, two->lab.a.buffer, caller->length,
		                           true) == 0;
	else
		caller->done = post(two, IBV_WR_RDMA_WRITE, caller->length) == 0 && completes(two->lab.a.send_cq);
	return caller;
}

/* The thread gets to its end, and so do others after it. */
static enum lab_verdict calls(int file, uint32_t length, bool moves)
{
	struct two two;
	struct caller caller = { &two, length, moves, false };
	pthread_t thread;
	void *end;

	if (!find_move()) /* another device's calls may be such places */
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, owner, file) == LAB_PASSED);
	CHECK(pthread_create(&thread, NULL, call, &caller) == 0 && pthread_join(thread, &end) == 0);
	CHECK(end == &caller && caller.done);
	CHECK(post(&two, IBV_WR_RDMA_WRITE, length) == 0 && completes(two.lab.a.send_cq));
	return finish(&two);
}

static enum lab_verdict cancelled__posts_a_word(void)
{
	return calls(0, 8, false);
}

static enum lab_verdict cancelled__posts_much(void)
{
	return calls(0, LAB_BUFFER, false);
}

static enum lab_verdict cancelled__maps_the_peers_memory(void)
{
	return calls(1, 8, false);
}

static enum lab_verdict cancelled__moves_a_word(void)
{
	return calls(0, 8, true);
}

static const struct lab_case cases[] = {
	{ "cancelled: posts a word", cancelled__posts_a_word, "pthreads(7)" },
	{ "cancelled: posts much", cancelled__posts_much, "pthreads(7)" },
	{ "cancelled: maps the peer's memory", cancelled__maps_the_peers_memory, "pthreads(7)" },
	{ "cancelled: moves a word", cancelled__moves_a_word, "lib/soft/extension.h" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
