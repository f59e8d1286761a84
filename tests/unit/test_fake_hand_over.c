// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_hand_over.c - how many requests it takes to wait for a lock, and to hand it over: rank 0 is the
 * target and rests, the last rank waits, those between hold the lock and give it back
 */
#include <CUnit/CUnit.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "base/order.h"
#include "fake_job.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "suites_fake.h"
#include "win/win.h"

#define ROUNDS 60 /* a rank that waits for long pings, and makes others do so: one of the rounds has to be without */
#define RANKS_MAX 5

struct count {
	uint64_t adds, writes;
};

struct hand_over {
	const char *what;
	enum oriel_lock_type held, wanted;
	int holders;
	struct count ask, leave; /* of the waiting rank, until it only reads; of the holders together */
};

/*
 * Only reads, of which there is no fixed number before it comes, tell the waiting rank; one does
 * then.
 */
static const struct hand_over hand_overs[] = {
	{ "to a writer behind a writer", ORIEL_LOCK_EXCLUSIVE, ORIEL_LOCK_EXCLUSIVE, 1, { 1, 3 }, { .writes = 2 } },
	{ "to a reader behind a writer", ORIEL_LOCK_EXCLUSIVE, ORIEL_LOCK_SHARED, 1, { 0, 3 }, { .writes = 2 } },
	{ "to a writer behind a reader", ORIEL_LOCK_SHARED, ORIEL_LOCK_EXCLUSIVE, 1, { 1, 3 }, { .writes = 1 } },
	{ "to a writer behind three readers", ORIEL_LOCK_SHARED, ORIEL_LOCK_EXCLUSIVE, 3, { 1, 3 }, { .writes = 3 } },
};
#define HAND_OVERS (sizeof(hand_overs) / sizeof(hand_overs[0]))

static pthread_barrier_t together, holders; /* of holders and of the waiting rank; they post nothing */
static const struct lock_words *words;      /* of rank 0's lock; published by `together` */
static struct count round_begin;
static uint64_t reads_at_grant;

static struct count count_now(void)
{
	return (struct count){ fake_requests_of(IBV_WR_ATOMIC_FETCH_AND_ADD), fake_requests_of(IBV_WR_RDMA_WRITE) };
}

static bool costs(const struct count *from, const struct count *want)
{
	struct count now = count_now();

	return now.adds - from->adds == want->adds && now.writes - from->writes == want->writes;
}

static bool somebody_waits(const struct hand_over *over)
{
	enum lock_state waiting = over->wanted == ORIEL_LOCK_SHARED ? LOCK_WAIT : LOCK_TICKET;
	int found = 0;

	for (uint32_t i = 0; i < LOCK_FIRST_MEMBERS; i++) /* pairs with lock_write_state; a holder has INTENT or ASK */
		found += (flag_load(&words->member[i].state) & 0xff) == waiting;
	return found > 0;
}

/* One of the holders counts for all. Whether it was as it should be. */
static bool give_back(struct rank *rank, oriel_win *win, const struct hand_over *over)
{
	struct count before = { 0, 0 };
	bool good = true;
	uint64_t reads;

	if (rank->rank == 1) {
		while (!somebody_waits(over))
			sched_yield();
		good = costs(&round_begin, &over->ask);
		before = count_now();
	}
	pthread_barrier_wait(&holders);
	rank_note(rank, "unlock", oriel_win_unlock(win, 0));
	pthread_barrier_wait(&holders);
	reads = fake_requests_of(IBV_WR_RDMA_READ);
	pthread_barrier_wait(&together); /* it is granted */
	return good && (rank->rank != 1 || (costs(&before, &over->leave) && reads_at_grant <= reads + 1));
}

static bool hold_once(struct rank *rank, oriel_win *win, const struct hand_over *over)
{
	bool good;

	rank_note(rank, "lock", oriel_win_lock(win, over->held, 0, 0));
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together); /* the round has begun */
	good = give_back(rank, win, over);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	return good;
}

static void wait_once(struct rank *rank, oriel_win *win, const struct hand_over *over)
{
	pthread_barrier_wait(&together);
	round_begin = count_now();
	pthread_barrier_wait(&together);
	rank_note(rank, "lock", oriel_win_lock(win, over->wanted, 0, 0));
	reads_at_grant = fake_requests_of(IBV_WR_RDMA_READ);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	rank_note(rank, "unlock", oriel_win_unlock(win, 0));
	pthread_barrier_wait(&together);
}

static void hand_over_often(struct rank *rank, oriel_win *win, const struct hand_over *over)
{
	int good = 0;

	for (int round = 0; round < ROUNDS; round++) {
		if (rank->rank == rank->size - 1)
			wait_once(rank, win, over);
		else
			good += hold_once(rank, win, over);
	}
	if (rank->rank != 1 || good > 0)
		return;
	rank->wrong++;
	printf("%s: not one of the rounds was as it should be\n", over->what);
}

static void hand_over(struct rank *rank)
{
	oriel_group *world;
	oriel_win *win;
	void *base;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	rank_note(rank, "group", oriel_group_world(rank->job, &world));
	rank_note(rank, "allocate", oriel_win_allocate(64, 1, NULL, world, &base, &win));
	rank_note(rank, "lock", oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0)); /* first contact does not count */
	rank_note(rank, "unlock", oriel_win_unlock(win, 0));
	if (rank->rank == 0) {
		pthread_mutex_lock(&rank->job->lock);
		words = lock_table_words(rank->job, win->slot);
		pthread_mutex_unlock(&rank->job->lock);
	}
	rank_note(rank, "fence", oriel_win_fence(win, 0));
	if (rank->rank == 0) {
		rank_rest();
	} else {
		hand_over_often(rank, win, rank->arg);
		pthread_barrier_wait(&together);
		rank_end_counting();
	}
	rank_note(rank, "free", oriel_win_free(&win));
	rank_note(rank, "group_free", oriel_group_free(&world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static void hand_over__requests(void)
{
	for (size_t i = 0; i < HAND_OVERS; i++) {
		struct rank ranks[RANKS_MAX];
		int count = hand_overs[i].holders;

		ranks_limit(60, "a lock goes %s", hand_overs[i].what);
		pthread_barrier_init(&together, NULL, (unsigned)count + 1);
		pthread_barrier_init(&holders, NULL, (unsigned)count);
		ranks_run(count + 2, hand_over, (void *)(uintptr_t)&hand_overs[i], ranks);
		ranks_check(ranks, count + 2);
		pthread_barrier_destroy(&holders);
		pthread_barrier_destroy(&together);
		fake_reset();
	}
}

static int init(void)
{
	fake_reset();
	return 0;
}

void suite_hand_over(void)
{
	CU_pSuite suite = CU_add_suite("hand_over", init, NULL);

	CU_ADD_TEST(suite, hand_over__requests);
}
