// SPDX-License-Identifier: BSD-2-Clause
/* test_fake_fence.c - a fence whose first word trails the puts to its partner */
#include <CUnit/CUnit.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"
#include "fake_job.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "job/peer.h"
#include "suites_fake.h"
#include "win/win.h"

#define RANKS_MAX 3
#define BYTES 4096
#define FENCES 2 /* before a test's own */

static oriel_win *wins[RANKS_MAX]; /* of each rank, between two of `meet` */
static pthread_barrier_t meeting;
static uint8_t memory[RANKS_MAX][BYTES];

static void meet(void)
{
	pthread_barrier_wait(&meeting);
}

/* The function of a rank in a window of all ranks, whose partners know each other. */
typedef void fencing_function(struct rank *rank, oriel_win *win);

static void use_window(struct rank *rank)
{
	fencing_function *const *function = rank->arg;
	oriel_group *world;
	oriel_win *win;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	oriel_group_world(rank->job, &world);
	CU_ASSERT_EQUAL_FATAL(oriel_win_create(memory[rank->rank], BYTES, 1, NULL, world, &win), 0);
	wins[rank->rank] = win;
	for (int i = 0; i < FENCES; i++) { /* the first finds the partners */
		CU_ASSERT_EQUAL(oriel_win_fence(win, 0), 0);
		meet();
	}
	(*function)(rank, win);
	oriel_win_free(&win);
	oriel_group_free(&world);
	oriel_finalize(&rank->job);
}

static void run(int size, fencing_function *function, const char *what)
{
	struct rank ranks[RANKS_MAX];

	ranks_limit(30, "%s", what);
	pthread_barrier_init(&meeting, NULL, (unsigned)size);
	ranks_run(size, use_window, &function, ranks);
	pthread_barrier_destroy(&meeting);
	CU_ASSERT_TRUE(ranks_clean());
}

/* Until the word of the test's own fence is there, at a rank, in a round. */
static void await_word(int rank, int round)
{
	const struct fence *fence = &wins[rank]->fence;
	uint64_t number = FENCES + 1;
	uint64_t at = control_fence_word(fence->barrier.rounds, number % CONTROL_FENCE_SETS, round);

	while (flag_load(&fence->words[at]) != number)
		usleep(100);
}

static void put_and_fence(struct rank *rank, oriel_win *win)
{
	uint64_t word = 7, before = fake_posts();

	meet();
	if (rank->rank == 0)
		CU_ASSERT_EQUAL(oriel_put(win, &word, sizeof(word), 1, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_fence(win, 0), 0);
	if (rank->rank == 1)
		CU_ASSERT_EQUAL(memcmp(memory[1], &word, sizeof(word)), 0);
	meet();
	CU_ASSERT_EQUAL(fake_posts() - before, 2); /* the put with its word, and the other's word */
	meet();
}

static void fence__word_leaves_with_the_put(void)
{
	fake_reset();
	run(2, put_and_fence, "a put and its fence");
}

/*
 * The put of rank 0 fails when all others have come: rank 2, which is not its target, does not pass
 * either.
 */
static void fail_and_fence(struct rank *rank, oriel_win *win)
{
	uint64_t word = 7;

	if (rank->rank == 0) {
		await_word(1, 1); /* of rank 2, which has heard from rank 1 before */
		fake_fail_request(fake_requests() + 1);
		CU_ASSERT_EQUAL(oriel_put(win, &word, sizeof(word), 1, 0), 0);
	}
	CU_ASSERT_EQUAL(oriel_win_fence(win, 0), ORIEL_ERR_PEER);
}

static void fence__nobody_passes_a_put_that_failed(void)
{
	fake_reset();
	run(3, fail_and_fence, "a put that fails before its fence");
	CU_ASSERT_PTR_NOT_NULL(fake_hit());
}

/* The other is there, so that nothing but the put's completion is waited for. */
static void put_registered_and_fence(struct rank *rank, oriel_win *win)
{
	static uint8_t origin[BYTES];
	oriel_mem *mem;

	CU_ASSERT_EQUAL(oriel_mem_register(rank->job, origin, BYTES, &mem), 0);
	if (rank->rank == 0) {
		const struct peer *peer = peer_find(rank->job, 1);

		await_word(0, 0);
		fake_config.late_polls = 5;
		CU_ASSERT_EQUAL(oriel_put(win, origin, BYTES, 1, 0), 0);
		CU_ASSERT_EQUAL(oriel_win_fence(win, 0), 0);
		CU_ASSERT_TRUE(wire_done(&peer->wire, wins[0]->fence.partner[0].link->last_number));
	} else {
		CU_ASSERT_EQUAL(oriel_win_fence(win, 0), 0);
	}
	CU_ASSERT_EQUAL(oriel_mem_deregister(&mem), 0);
}

static void fence__gives_the_origin_back(void)
{
	fake_reset();
	run(2, put_registered_and_fence, "a fence behind a put of registered memory");
}

/* Until rank 0 is in the test's own fence. */
static void await_fence(void)
{
	while (__atomic_load_n(&wins[0]->fence.number, __ATOMIC_RELAXED) <= FENCES)
		usleep(100);
}

static oriel_job *first_job; /* rank 0's */

static void lose_third(struct rank *rank, oriel_win *win)
{
	static uint8_t origin[BYTES];
	oriel_mem *mem;
	int rc;

	if (rank->rank == 0) {
		CU_ASSERT_EQUAL(oriel_mem_register(rank->job, origin, BYTES, &mem), 0);
		first_job = rank->job;
		fake_config.late_polls = 1000;
		CU_ASSERT_EQUAL(oriel_put(win, origin, BYTES, 1, 0), 0);
	}
	meet();
	if (rank->rank == 2) {
		await_fence();
		rank_died(first_job, 2, "lost");
	}
	rc = oriel_win_fence(win, 0);
	CU_ASSERT_TRUE(rc == ORIEL_ERR_PEER || (rc == 0 && rank->rank == 1)); /* which may have heard from both before */
	if (rank->rank == 0) {
		CU_ASSERT_TRUE(
			wire_done(&wins[0]->fence.partner[0].link->peer->wire, wins[0]->fence.partner[0].link->last_number));
		CU_ASSERT_EQUAL(oriel_mem_deregister(&mem), 0);
	}
}

static void fence__gives_the_origin_back_when_a_third_is_lost(void)
{
	fake_reset();
	run(3, lose_third, "a third rank that is lost in a fence");
}

/* L23: and it does not keep rank 0 from locking itself. */
static void lose_partner(struct rank *rank, oriel_win *win)
{
	uint64_t word = 7;

	if (rank->rank == 0) {
		first_job = rank->job;
		fake_config.late_polls = UINT32_MAX;
		CU_ASSERT_EQUAL(oriel_put(win, &word, sizeof(word), 1, 0), 0);
	}
	meet();
	if (rank->rank == 1) {
		await_fence();
		rank_died(first_job, 1, "lost");
	} else {
		CU_ASSERT_EQUAL(oriel_win_fence(win, 0), ORIEL_ERR_PEER);
		CU_ASSERT_EQUAL(oriel_win_lock(win, ORIEL_LOCK_SHARED, 0, 0), 0);
		oriel_win_unlock(win, 0);
	}
	meet();
}

static void fence__tells_a_loss_once(void)
{
	fake_reset();
	run(2, lose_partner, "a partner that is lost in a fence");
}

void suite_fence(void)
{
	CU_pSuite suite = CU_add_suite("fence", NULL, NULL);

	CU_ADD_TEST(suite, fence__word_leaves_with_the_put);
	CU_ADD_TEST(suite, fence__nobody_passes_a_put_that_failed);
	CU_ADD_TEST(suite, fence__gives_the_origin_back);
	CU_ADD_TEST(suite, fence__gives_the_origin_back_when_a_third_is_lost);
	CU_ADD_TEST(suite, fence__tells_a_loss_once);
}
