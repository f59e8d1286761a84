// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_bootstrap.c - ranks that the program has started, and that find each other by its own means
 *
 * The launcher has started one process; for each case the program forks four ranks, which share a
 * board of memory. By it they exchange, or put and get. Each puts to its neighbour; what goes wrong
 * it says, and ends with 1.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oriel.h"

#define RANKS 4
#define BYTES_MAX 512
#define LIMIT_S 60

/* The ranks' shared state. */
struct board {
	pthread_barrier_t barrier;
	uint8_t bytes[RANKS][BYTES_MAX]; /* by the rank; read by others behind the barrier, or when size is set */
	uint32_t size[RANKS];            /* of a value put; stored behind it, loaded before it; 0: none yet */
	int told;                        /* ranks that know of the one that cannot join */
	int idled;                       /* ranks that have been given a turn while they waited */
};

/* One rank of a case. */
struct own_rank {
	struct board *board;
	int rank;
	bool idled;
};

static int exchange(void *context, const void *mine, size_t size_bytes, void *all)
{
	struct own_rank *own = context;

	if (size_bytes > BYTES_MAX)
		return ENOSPC;
	memcpy(own->board->bytes[own->rank], mine, size_bytes);
	pthread_barrier_wait(&own->board->barrier);
	for (size_t i = 0; i < RANKS; i++)
		memcpy((uint8_t *)all + i * size_bytes, own->board->bytes[i], size_bytes);
	pthread_barrier_wait(&own->board->barrier);
	return 0;
}

static int put(void *context, const void *value, size_t size_bytes)
{
	struct own_rank *own = context;

	memcpy(own->board->bytes[own->rank], value, size_bytes);
	__atomic_store_n(&own->board->size[own->rank], (uint32_t)size_bytes, __ATOMIC_RELEASE); /* pairs with get's load */
	return 0;
}

static int get(void *context, int rank, void *value, size_t *size_bytes)
{
	struct own_rank *own = context;
	uint32_t size = __atomic_load_n(&own->board->size[rank], __ATOMIC_ACQUIRE); /* pairs with put's store */

	if (size == 0)
		return 1;
	memcpy(value, own->board->bytes[rank], size);
	*size_bytes = size;
	return 0;
}

static void expect(struct own_rank *own, bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "rank %d: %s: %s\n", own->rank, what, oriel_last_error());
	_exit(1);
}

#define EXPECT(own, condition) expect((own), (condition), #condition)

static int join(struct own_rank *own, bool by_exchange, oriel_job **job)
{
	struct oriel_bootstrap bootstrap = {
		.struct_bytes = sizeof(bootstrap), .rank = own->rank, .size = RANKS, .context = own
	};
	struct oriel_options options = { .struct_bytes = sizeof(options), .bootstrap = &bootstrap };

	if (by_exchange) {
		bootstrap.exchange = exchange;
	} else {
		bootstrap.put = put;
		bootstrap.get = get;
	}
	return oriel_init(&options, job);
}

static void put_to_neighbour(struct own_rank *own, oriel_job *job)
{
	int here = -1, mine = own->rank;
	oriel_group *world;
	oriel_win *win;

	EXPECT(own, oriel_rank(job) == own->rank && oriel_size(job) == RANKS);
	EXPECT(own, oriel_group_world(job, &world) == 0);
	EXPECT(own, oriel_win_create(&here, sizeof(here), 1, NULL, world, &win) == 0);
	EXPECT(own, oriel_win_fence(win, 0) == 0);
	EXPECT(own, oriel_put(win, &mine, sizeof(mine), (own->rank + 1) % RANKS, 0) == 0);
	EXPECT(own, oriel_win_fence(win, 0) == 0);
	EXPECT(own, here == (own->rank + RANKS - 1) % RANKS);
	EXPECT(own, oriel_win_free(&win) == 0);
	EXPECT(own, oriel_group_free(&world) == 0);
}

static void run_job(struct own_rank *own, bool by_exchange)
{
	oriel_job *job;

	EXPECT(own, join(own, by_exchange, &job) == 0);
	put_to_neighbour(own, job);
	EXPECT(own, oriel_finalize(&job) == 0);
}

static void E1_own_exchange(struct own_rank *own)
{
	run_job(own, true);
}

static void E1_own_store(struct own_rank *own)
{
	run_job(own, false);
}

/* One job after the other: nothing of the first is in the way. */
static void E1_own_exchange_again(struct own_rank *own)
{
	for (int i = 0; i < 3; i++)
		run_job(own, true);
}

/* The others wait for a rank that starts late, and get no error that it is dead. */
static void E1_own_store_with_a_late_rank(struct own_rank *own)
{
	if (own->rank == RANKS - 1)
		usleep(300000);
	run_job(own, false);
}

/*
 * Waits until all ranks have the error. A rank that left at once would be named by those that still
 * connect to it, in place of the rank that never came.
 */
static void wait_until_all_are_told(struct board *board)
{
	__atomic_add_fetch(&board->told, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&board->told, __ATOMIC_ACQUIRE) < RANKS - 1)
		usleep(1000);
}

/* No rank hangs in the exchange, and a rank that needs the missing one gets the error. */
static void E6_rank_that_cannot_join(struct own_rank *own)
{
	oriel_job *job;

	if (own->rank == RANKS - 1) {
		setenv("ORIEL_DEVICE", "no-such-device", 1);
		EXPECT(own, join(own, true, &job) == ORIEL_ERR_DEVICE);
		return;
	}
	EXPECT(own, join(own, true, &job) == 0);
	EXPECT(own, oriel_barrier(job) == ORIEL_ERR_PEER);
	EXPECT(own, strstr(oriel_last_error(), "rank 3"));
	wait_until_all_are_told(own->board);
	/* Rank 0 has the error from others: it has needed no answer of the missing rank. */
	EXPECT(own, oriel_finalize(&job) == (own->rank == 0 ? 0 : ORIEL_ERR_PEER));
}

/* The first time only: the others are counted. */
static void count_turn(void *context)
{
	struct own_rank *own = context;

	if (!own->idled)
		__atomic_add_fetch(&own->board->idled, 1, __ATOMIC_ACQ_REL);
	own->idled = true;
}

static int join_with_idle(struct own_rank *own, oriel_job **job)
{
	struct oriel_bootstrap bootstrap = {
		.struct_bytes = sizeof(bootstrap), .rank = own->rank, .size = RANKS, .context = own, .exchange = exchange
	};
	struct oriel_options options = {
		.struct_bytes = sizeof(options), .bootstrap = &bootstrap, .idle = count_turn, .idle_context = own
	};

	return oriel_init(&options, job);
}

/* The last rank comes to the barrier when the others have been given a turn, and not before. */
static void E1_own_idle_while_waiting(struct own_rank *own)
{
	oriel_job *job;

	EXPECT(own, join_with_idle(own, &job) == 0);
	while (own->rank == RANKS - 1 && __atomic_load_n(&own->board->idled, __ATOMIC_ACQUIRE) < RANKS - 1)
		usleep(1000);
	EXPECT(own, oriel_barrier(job) == 0);
	EXPECT(own, oriel_finalize(&job) == 0);
}

struct own_case {
	const char *name;
	void (*run)(struct own_rank *own);
};

static const struct own_case cases[] = {
	{ "E1_own_exchange", E1_own_exchange },
	{ "E1_own_store", E1_own_store },
	{ "E1_own_exchange_again", E1_own_exchange_again },
	{ "E1_own_store_with_a_late_rank", E1_own_store_with_a_late_rank },
	{ "E1_own_idle_while_waiting", E1_own_idle_while_waiting },
	{ "E6_rank_that_cannot_join", E6_rank_that_cannot_join },
};

static struct board *make_board(void)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;

	if (board == MAP_FAILED)
		exit(2);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&board->barrier, &shared, RANKS);
	return board;
}

static pid_t start_rank(const struct own_case *c, struct board *board, int rank)
{
	struct own_rank own = { board, rank, false };
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	alarm(LIMIT_S);
	c->run(&own);
	_exit(0);
}

/* The number of ranks that did not end well. */
static int run_case(const struct own_case *c)
{
	struct board *board = make_board();
	pid_t pids[RANKS];
	int failed = 0, status;

	for (int rank = 0; rank < RANKS; rank++)
		pids[rank] = start_rank(c, board, rank);
	for (int rank = 0; rank < RANKS; rank++) {
		if (pids[rank] < 0 || waitpid(pids[rank], &status, 0) < 0 || status != 0)
			failed++;
	}
	munmap(board, sizeof(*board));
	return failed;
}

int main(void)
{
	int passed = 0, failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ranks = run_case(&cases[i]);

		if (ranks == 0)
			printf("ok %s\n", cases[i].name);
		else
			printf("not ok %s: %d of %d ranks\n", cases[i].name, ranks, RANKS);
		ranks == 0 ? passed++ : failed++;
	}
	printf("multi_bootstrap: %d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
