// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_lock_cost.c - how many requests and doorbells the calls of passive target take, if no
 * other rank has the lock, and connection and description are known
 */
#include <CUnit/CUnit.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/order.h"
#include "base/util.h"
#include "fake_job.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "suites_fake.h"
#include "win/win.h"

#define TARGETS 2 /* ranks 1 and 2; rank 0 is counted, and no other rank posts anything */
#define PUTS 5    /* of an epoch with several */

struct count {
	uint64_t adds, reads, writes, posts;
};

static struct count count_now(void)
{
	return (struct count){ fake_requests_of(IBV_WR_ATOMIC_FETCH_AND_ADD), fake_requests_of(IBV_WR_RDMA_READ),
		                   fake_requests_of(IBV_WR_RDMA_WRITE), fake_posts() };
}

static void costs(struct rank *rank, const char *what, const struct count *from, struct count want)
{
	struct count now = count_now();
	struct count is = { now.adds - from->adds, now.reads - from->reads, now.writes - from->writes,
		                now.posts - from->posts };

	if (is.adds == want.adds && is.reads == want.reads && is.writes == want.writes && is.posts <= want.posts)
		return;
	rank->wrong++;
	printf("%s: %d adds, %d reads, %d writes, %d posts\n", what, (int)is.adds, (int)is.reads, (int)is.writes,
	       (int)is.posts);
}

struct lock_epoch {
	const char *what;
	enum oriel_lock_type type;
	int assertions;
	int puts;
	struct count lock, unlock;
};

/* The puts' doorbells are counted with the unlock. */
static const struct lock_epoch epochs[] = {
	{ "shared", ORIEL_LOCK_SHARED, 0, 0, { .writes = 1, .reads = 1, .posts = 1 }, { .writes = 1, .posts = 1 } },
	{ "exclusive",
	  ORIEL_LOCK_EXCLUSIVE,
	  0,
	  0,
	  { .writes = 1, .adds = 1, .reads = 1, .posts = 1 },
	  { .writes = 2, .posts = 1 } },
	{ "shared, put", ORIEL_LOCK_SHARED, 0, 1, { .writes = 1, .reads = 1, .posts = 1 }, { .writes = 2, .posts = 2 } },
	{ "exclusive, put",
	  ORIEL_LOCK_EXCLUSIVE,
	  0,
	  1,
	  { .writes = 1, .adds = 1, .reads = 1, .posts = 1 },
	  { .writes = 3, .posts = 2 } },
	{ "shared, puts",
	  ORIEL_LOCK_SHARED,
	  0,
	  PUTS,
	  { .writes = 1, .reads = 1, .posts = 1 },
	  { .writes = PUTS + 1, .posts = PUTS + 1 } },
	{ "exclusive, puts",
	  ORIEL_LOCK_EXCLUSIVE,
	  0,
	  PUTS,
	  { .writes = 1, .adds = 1, .reads = 1, .posts = 1 },
	  { .writes = PUTS + 2, .posts = PUTS + 1 } },
	{ "unchecked", ORIEL_LOCK_EXCLUSIVE, ORIEL_MODE_NOCHECK, 0, { 0 }, { 0 } },
	{ "unchecked, put", ORIEL_LOCK_SHARED, ORIEL_MODE_NOCHECK, 1, { 0 }, { .writes = 1, .posts = 1 } },
	{ "unchecked, puts", ORIEL_LOCK_SHARED, ORIEL_MODE_NOCHECK, PUTS, { 0 }, { .writes = PUTS, .posts = PUTS } },
};

static void lock_and_unlock(struct rank *rank, oriel_win *win, const struct lock_epoch *epoch)
{
	static const uint64_t word = 1;
	struct count at = count_now();

	rank_note(rank, "lock", oriel_win_lock(win, epoch->type, 1, epoch->assertions));
	costs(rank, epoch->what, &at, epoch->lock);
	at = count_now();
	for (int i = 0; i < epoch->puts; i++)
		rank_note(rank, "put", oriel_put(win, &word, sizeof(word), 1, 0));
	rank_note(rank, "unlock", oriel_win_unlock(win, 1));
	costs(rank, epoch->what, &at, epoch->unlock);
}

static void touch_all(struct rank *rank, oriel_win *win)
{
	static const uint64_t word = 1;

	for (int to = 1; to <= TARGETS; to++)
		rank_note(rank, "put", oriel_put(win, &word, sizeof(word), to, 0));
}

static void flush_twice(struct rank *rank, oriel_win *win)
{
	struct count at = count_now();

	rank_note(rank, "flush", oriel_win_flush_local(win, ORIEL_RANK_ALL));
	touch_all(rank, win);
	rank_note(rank, "flush", oriel_win_flush(win, ORIEL_RANK_ALL));
	costs(rank, "flush of puts", &at, (struct count){ .writes = TARGETS, .posts = TARGETS });
	at = count_now();
	rank_note(rank, "flush", oriel_win_flush(win, ORIEL_RANK_ALL));
	rank_note(rank, "flush", oriel_win_flush(win, 1));
	rank_note(rank, "flush", oriel_win_flush_local(win, 1));
	costs(rank, "flush of nothing", &at, (struct count){ 0 });
}

/* Completion at the origin, or at both sides, costs no request beside the operation. */
static void flush_locally(struct rank *rank, oriel_win *win)
{
	uint64_t word = 1;
	struct count at = count_now();

	rank_note(rank, "put", oriel_put(win, &word, sizeof(word), 1, 0));
	rank_note(rank, "flush_local", oriel_win_flush_local(win, 1));
	rank_note(rank, "flush_local", oriel_win_flush_local(win, ORIEL_RANK_ALL));
	costs(rank, "flush_local of a put", &at, (struct count){ .writes = 1, .posts = 1 });
	at = count_now();
	rank_note(rank, "get", oriel_get(win, &word, sizeof(word), 1, 0));
	rank_note(rank, "flush_local", oriel_win_flush_local(win, 1));
	costs(rank, "flush_local of a get", &at, (struct count){ .reads = 1, .posts = 1 });
	at = count_now();
	rank_note(rank, "flush", oriel_win_flush(win, ORIEL_RANK_ALL));
	costs(rank, "flush of what is complete", &at, (struct count){ 0 });
}

static void request_for(struct rank *rank, oriel_win *win, int to, bool local)
{
	oriel_request request = { 0 };
	int done = 0;

	rank_note(rank, "iflush", local ? oriel_win_iflush_local(win, to, &request) : oriel_win_iflush(win, to, &request));
	while (!done && rank->errors == 0)
		rank_note(rank, "request_test", oriel_request_test(&request, &done));
	rank_note(rank, "request_wait", oriel_request_wait(&request));
}

static void request_nothing(struct rank *rank, oriel_win *win)
{
	struct count at;

	rank_note(rank, "flush", oriel_win_flush(win, ORIEL_RANK_ALL));
	at = count_now();
	for (int local = 0; local < 2; local++) {
		request_for(rank, win, 1, local);
		request_for(rank, win, ORIEL_RANK_ALL, local);
	}
	costs(rank, "requests of nothing", &at, (struct count){ 0 });
}

static void request_each(struct rank *rank, oriel_win *win)
{
	static const uint64_t word = 1;
	struct count at = count_now();

	touch_all(rank, win);
	request_for(rank, win, 1, false);
	request_for(rank, win, ORIEL_RANK_ALL, false);
	costs(rank, "iflush of puts", &at, (struct count){ .writes = TARGETS, .posts = TARGETS });
	request_nothing(rank, win);
	at = count_now();
	rank_note(rank, "put", oriel_put(win, &word, sizeof(word), 1, 0));
	request_for(rank, win, 1, true);
	costs(rank, "iflush_local of a put", &at, (struct count){ .writes = 1, .posts = 1 });
	request_nothing(rank, win);
}

static void lock_and_unlock_all(struct rank *rank, oriel_win *win, int assertions)
{
	const uint64_t locks = assertions ? 0 : TARGETS;
	struct count at = count_now();

	rank_note(rank, "lock_all", oriel_win_lock_all(win, assertions));
	costs(rank, "lock_all", &at, (struct count){ 0 });
	touch_all(rank, win);
	rank_note(rank, "flush", oriel_win_flush(win, ORIEL_RANK_ALL));
	costs(rank, "first puts in lock_all", &at,
	      (struct count){ .writes = TARGETS + locks, .reads = locks, .posts = TARGETS + locks });
	flush_twice(rank, win);
	flush_locally(rank, win);
	request_each(rank, win);
	at = count_now();
	rank_note(rank, "unlock_all", oriel_win_unlock_all(win));
	costs(rank, "unlock_all", &at, (struct count){ .writes = locks, .posts = locks });
}

static void count_each(struct rank *rank, oriel_win *win)
{
	for (size_t i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++)
		lock_and_unlock(rank, win, &epochs[i]);
	lock_and_unlock_all(rank, win, 0);
	lock_and_unlock_all(rank, win, ORIEL_MODE_NOCHECK);
}

/* The others hold the lock too: a reader asks none of them, and takes no more for it. */
static void count_beside_readers(struct rank *rank, oriel_win *win)
{
	for (size_t i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++) {
		if (epochs[i].type == ORIEL_LOCK_SHARED)
			lock_and_unlock(rank, win, &epochs[i]);
	}
}

/*
 * Complete at the origin is what was copied, also while nothing of it has been carried out: a call
 * that waits for the device would wait for ever.
 */
static void count_before_the_device(struct rank *rank, oriel_win *win)
{
	static const uint64_t word = 1;

	rank_note(rank, "lock", oriel_win_lock(win, ORIEL_LOCK_SHARED, 1, 0));
	fake_config.engine_rests = true;
	rank_note(rank, "put", oriel_put(win, &word, sizeof(word), 1, 0));
	rank_note(rank, "flush_local", oriel_win_flush_local(win, 1));
	rank_note(rank, "flush_local", oriel_win_flush_local(win, ORIEL_RANK_ALL));
	rank_note(rank, "put", oriel_put(win, &word, sizeof(word), 1, 0));
	request_for(rank, win, 1, true);
	fake_config.engine_rests = false;
	rank_note(rank, "unlock", oriel_win_unlock(win, 1));
}

struct counting {
	void (*count)(struct rank *rank, oriel_win *win);
	bool readers; /* the others lock rank 1, shared, and rest with it */
};

static void count(struct rank *rank)
{
	const struct counting *counting = rank->arg;
	oriel_group *world;
	oriel_win *win;
	void *base;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	rank_note(rank, "group", oriel_group_world(rank->job, &world));
	rank_note(rank, "allocate", oriel_win_allocate(64, 1, NULL, world, &base, &win));
	if (rank->rank == 0) {
		rank_note(rank, "lock_all", oriel_win_lock_all(win, 0)); /* first contact does not count */
		touch_all(rank, win);
		rank_note(rank, "unlock_all", oriel_win_unlock_all(win));
	} else if (counting->readers) {
		rank_note(rank, "lock", oriel_win_lock(win, ORIEL_LOCK_SHARED, 1, 0));
	}
	rank_note(rank, "barrier", oriel_barrier(rank->job)); /* first contacts are over */
	if (rank->rank == 0) {
		rank_begin_counting(rank);
		counting->count(rank, win);
		rank_end_counting();
	} else {
		rank_rest();
		if (counting->readers)
			rank_note(rank, "unlock", oriel_win_unlock(win, 1));
	}
	rank_note(rank, "free", oriel_win_free(&win));
	rank_note(rank, "group_free", oriel_group_free(&world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static void run_counting(const struct counting *counting, const char *what)
{
	struct rank ranks[1 + TARGETS];

	ranks_limit(60, "%s", what);
	ranks_run(1 + TARGETS, count, (void *)(uintptr_t)counting, ranks);
	ranks_check(ranks, 1 + TARGETS);
	fake_reset();
}

static void lock_cost__requests_and_doorbells(void)
{
	run_counting(&(struct counting){ count_each, false }, "what locks cost");
}

static void lock_cost__no_more_beside_readers(void)
{
	run_counting(&(struct counting){ count_beside_readers, true }, "what locks cost beside readers");
}

static void lock_cost__L15_copied_puts_are_not_waited_for(void)
{
	fake_config.engine = true;
	run_counting(&(struct counting){ count_before_the_device, false }, "flush_local while the device rests");
}

#define MANY 200 /* ranks of a job */

static pthread_barrier_t together; /* none of the job's own, which posts */

/* Requests of any kind, and doorbells. */
static struct count count_all(void)
{
	return (struct count){ .writes = fake_requests(), .posts = fake_posts() };
}

/* Whether there was no request of any rank in ten epochs of every rank. */
static bool epochs_are_quiet(struct rank *rank, oriel_win *win)
{
	struct count before, after;

	pthread_barrier_wait(&together);
	before = count_all();
	pthread_barrier_wait(&together);
	for (int i = 0; i < 10; i++) {
		rank_note(rank, "lock_all", oriel_win_lock_all(win, i % 2 ? ORIEL_MODE_NOCHECK : 0));
		rank_note(rank, "flush", oriel_win_flush(win, ORIEL_RANK_ALL));
		rank_note(rank, "unlock_all", oriel_win_unlock_all(win));
	}
	pthread_barrier_wait(&together);
	after = count_all();
	return after.writes == before.writes && after.posts == before.posts;
}

/* Service threads may have something left to tell of what went before: one of the rounds counts. */
static void lock_all_of_many(struct rank *rank)
{
	oriel_group *world;
	oriel_win *win = NULL;
	void *base;
	int quiet = 0;

	rank_note(rank, "job_open", rank_join(rank, NULL));
	rank_note(rank, "group", oriel_group_world(rank->job, &world));
	rank_note(rank, "allocate", oriel_win_allocate(64, 1, NULL, world, &base, &win));
	for (int round = 0; round < 5; round++)
		quiet += epochs_are_quiet(rank, win);
	rank->wrong += quiet == 0;
	pthread_barrier_wait(&together);
	rank_note(rank, "free", oriel_win_free(&win));
	rank_note(rank, "group_free", oriel_group_free(&world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

/* L7: without operations lock_all costs no message, however many the members are. */
static void lock_cost__L7_lock_all_costs_no_message(void)
{
	struct rank *ranks = calloc(MANY, sizeof(*ranks));
	struct rlimit before, wide;

	getrlimit(RLIMIT_NOFILE, &before);
	wide = (struct rlimit){ before.rlim_max, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &wide); /* each rank has some ten */
	ranks_limit(240, "lock_all of many");
	pthread_barrier_init(&together, NULL, MANY);
	ranks_run(MANY, lock_all_of_many, NULL, ranks);
	ranks_check(ranks, MANY);
	pthread_barrier_destroy(&together);
	setrlimit(RLIMIT_NOFILE, &before);
	free(ranks);
	fake_reset();
}

#define WAITERS 5
#define HEAD_READS 2000 /* of the first in the queue, about: so long the lock is held */

static const struct lock_header *queue; /* of rank 0's lock */
static uint32_t queue_ready;
static const struct wire *waiter_wire[1 + WAITERS]; /* to rank 0; published by the ticket that its rank draws */

/* The rank is next to draw a ticket: so many have done it. */
static void await_tickets(uint64_t count)
{
	while (!state_load(&queue_ready) || flag_load(&queue->next) - flag_load(&queue->serving) < count)
		sched_yield();
}

static uint64_t posted_by(int waiter)
{
	return __atomic_load_n(&waiter_wire[waiter]->posted, __ATOMIC_RELAXED);
}

/*
 * A rank that is not first in the queue reads at intervals that grow with the hold up to some
 * milliseconds; on a slow machine it reads less often. Once the lock moves each is the first for a
 * time.
 */
static void check_waiters(struct rank *rank, const uint64_t before[], uint64_t begun)
{
	for (int i = 2; i <= WAITERS; i++) {
		uint64_t requests = posted_by(i) - before[i], ms = (now_ns() - begun) / NS_PER_MS;

		if (requests <= 60 + ms)
			continue;
		rank->wrong++;
		printf("waiter %d: %lu requests in %lu ms\n", i, (unsigned long)requests, (unsigned long)ms);
	}
}

static void hold(struct rank *rank, oriel_win *win)
{
	uint64_t reads, begun, before[1 + WAITERS];

	rank_note(rank, "lock", oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	pthread_mutex_lock(&rank->job->lock);
	queue = &lock_table_words(rank->job, win->slot)->header;
	pthread_mutex_unlock(&rank->job->lock);
	state_store(&queue_ready, 1); /* pairs with await_tickets */
	await_tickets(1 + WAITERS);
	begun = now_ns();
	for (int i = 2; i <= WAITERS; i++)
		before[i] = posted_by(i);
	reads = fake_requests_of(IBV_WR_RDMA_READ);
	while (fake_requests_of(IBV_WR_RDMA_READ) - reads < HEAD_READS)
		sched_yield();
	check_waiters(rank, before, begun);
	rank_note(rank, "unlock", oriel_win_unlock(win, 0));
}

static void wait_in_the_queue(struct rank *rank, oriel_win *win)
{
	waiter_wire[rank->rank] = &peer_find(rank->job, 0)->wire;
	await_tickets((uint64_t)rank->rank);
	rank_note(rank, "lock", oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	rank_note(rank, "unlock", oriel_win_unlock(win, 0));
}

static void queue_up(struct rank *rank)
{
	oriel_group *world;
	oriel_win *win;
	void *base;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	rank_note(rank, "group", oriel_group_world(rank->job, &world));
	rank_note(rank, "allocate", oriel_win_allocate(64, 1, NULL, world, &base, &win));
	rank_note(rank, "lock", oriel_win_lock(win, ORIEL_LOCK_SHARED, 0, 0)); /* first contact does not count */
	rank_note(rank, "unlock", oriel_win_unlock(win, 0));
	rank_note(rank, "fence", oriel_win_fence(win, 0));
	if (rank->rank == 0)
		hold(rank, win);
	else
		wait_in_the_queue(rank, win);
	rank_note(rank, "free", oriel_win_free(&win));
	rank_note(rank, "group_free", oriel_group_free(&world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

/* L11: the reads of waiting ranks do not grow with their number. */
static void lock_cost__L11_waiters_read_seldom(void)
{
	struct rank ranks[1 + WAITERS];

	ranks_limit(60, "who waits for a lock");
	queue_ready = 0;
	ranks_run(1 + WAITERS, queue_up, NULL, ranks);
	ranks_check(ranks, 1 + WAITERS);
	fake_reset();
}

static int init(void)
{
	fake_reset();
	return 0;
}

void suite_lock_cost(void)
{
	CU_pSuite suite = CU_add_suite("lock_cost", init, NULL);

	CU_ADD_TEST(suite, lock_cost__requests_and_doorbells);
	CU_ADD_TEST(suite, lock_cost__no_more_beside_readers);
	CU_ADD_TEST(suite, lock_cost__L15_copied_puts_are_not_waited_for);
	CU_ADD_TEST(suite, lock_cost__L7_lock_all_costs_no_message);
	CU_ADD_TEST(suite, lock_cost__L11_waiters_read_seldom);
}
