// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls.c - how long calls take, in ns: the least of some batches. Rank 0 calls; the window is rank 1's (run)
 *
 *   see-cost CALLS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "oriel.h"

enum { BATCHES = 9 };

static oriel_win *win;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int put(void)
{
	static const uint64_t value;

	return oriel_put(win, &value, sizeof(value), 1, 0);
}

static int get(void)
{
	static uint64_t value;

	return oriel_get(win, &value, sizeof(value), 1, 0);
}

static int flush(void)
{
	return oriel_win_flush(win, 1);
}

static int fetch_and_op(void)
{
	static const uint64_t one = 1;
	static uint64_t old;

	return oriel_fetch_and_op(win, &one, &old, ORIEL_UINT64, ORIEL_SUM, 1, 0);
}

static int lock_and_unlock(void)
{
	int rc = oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 1, 0);

	return rc ? rc : oriel_win_unlock(win, 1);
}

static int measure(const char *name, int (*call)(void), long calls)
{
	uint64_t least = UINT64_MAX;

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t begun = now_ns();

		for (long i = 0; i < calls; i++) {
			if (call())
				return -1;
		}
		begun = now_ns() - begun;
		least = begun < least ? begun : least;
	}
	printf("%s %.1f\n", name, (double)least / (double)calls);
	return 0;
}

static int measure_all(long calls)
{
	int rc = measure("lock+unlock", lock_and_unlock, calls);

	if (rc == 0)
		rc = oriel_win_lock_all(win, 0);
	if (rc == 0)
		rc = measure("put", put, calls) || measure("get", get, calls) || measure("flush", flush, calls) ||
		     measure("fetch_and_op", fetch_and_op, calls);
	return rc ? rc : oriel_win_unlock_all(win);
}

int main(int argc, char **argv)
{
	oriel_group *world;
	oriel_job *job;
	void *base;

	if (argc != 2 || oriel_init(NULL, &job) || oriel_group_world(job, &world) ||
	    oriel_win_allocate(64, 1, NULL, world, &base, &win))
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	if (oriel_rank(job) == 0 && measure_all(atol(argv[1])))
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	return oriel_win_free(&win) || oriel_group_free(&world) || oriel_finalize(&job);
}
