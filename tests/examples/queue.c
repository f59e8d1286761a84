// SPDX-License-Identifier: BSD-2-Clause
/* queue.c - a work queue: ranks take tasks from a counter at rank 0, and add up their results there */
#include "check.h"

#define TASKS 100
#define NUMBERS 2000 /* of each task */

/* What rank 0's window holds, as displacements. */
enum { NEXT_TASK, PRIMES, WORDS };

/* The next task that no rank has taken yet; TASKS or more if there is none. */
static int64_t take_task(oriel_win *win)
{
	static const int64_t one = 1;
	int64_t task;

	CHECK(oriel_fetch_and_op(win, &one, &task, ORIEL_INT64, ORIEL_SUM, 0, NEXT_TASK));
	CHECK(oriel_win_flush(win, 0)); /* from here on `task` is valid */
	return task;
}

static int is_prime(int64_t n)
{
	for (int64_t i = 2; i * i <= n; i++) {
		if (n % i == 0)
			return 0;
	}
	return n > 1;
}

static int64_t do_task(int64_t task)
{
	int64_t primes = 0;

	for (int64_t n = task * NUMBERS; n < (task + 1) * NUMBERS; n++)
		primes += is_prime(n);
	return primes;
}

static void work(oriel_win *win, int rank)
{
	int64_t primes = 0, task;
	int tasks = 0;

	CHECK(oriel_win_lock_all(win, 0)); /* opens an epoch to all ranks; they call nothing */
	while ((task = take_task(win)) < TASKS) {
		primes += do_task(task);
		tasks++;
	}
	CHECK(oriel_accumulate(win, &primes, 1, ORIEL_INT64, ORIEL_SUM, 0, PRIMES));
	CHECK(oriel_win_unlock_all(win)); /* the result is in rank 0's memory */
	printf("rank %d did %d tasks\n", rank, tasks);
}

int main(int argc, char **argv)
{
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	void *base;
	int rank;

	usage(argc, argv, "oriel-run -n 4 ./queue");
	CHECK(oriel_init(NULL, &job));
	rank = CHECK(oriel_rank(job));
	CHECK(oriel_group_world(job, &world));
	CHECK(oriel_win_allocate(rank == 0 ? WORDS * sizeof(int64_t) : 0, sizeof(int64_t), NULL, world, &base, &win));
	work(win, rank);
	CHECK(oriel_barrier(job)); /* every rank has added its result */
	if (rank == 0) {
		CHECK(oriel_win_sync(win)); /* rank 0 loads what others have stored */
		printf("%lld primes below %d\n", (long long)((const int64_t *)base)[PRIMES], TASKS * NUMBERS);
	}
	CHECK(oriel_win_free(&win));
	CHECK(oriel_group_free(&world));
	CHECK(oriel_finalize(&job));
	return 0;
}
