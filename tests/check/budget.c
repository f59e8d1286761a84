// SPDX-License-Identifier: BSD-2-Clause
/*
 * budget.c - how many instructions some calls take, for two ranks
 *
 * Each is counted by single steps (bench/steps.h), and printed with the fewest of some turns:
 * "oriel_put 55". tests/check/run compares them with and without the checker, tests/see/waits/run
 * with and without a profile.
 */
#include <oriel.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/steps.h"

#define TURNS 20
#define SKIPPED 77 /* this processor does not count */

static oriel_job *job;
static oriel_win *win;
/* Instructions; 0: never called. */
static long puts_fewest, flushes_fewest, locks_fewest, unlocks_fewest;

static void note(long *fewest)
{
	long steps = steps_end().instructions;

	if (*fewest == 0 || steps < *fewest)
		*fewest = steps;
}

static int count_locks(void)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < TURNS; i++) {
		steps_begin();
		rc = oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 1, 0);
		note(&locks_fewest);
		steps_begin();
		rc |= oriel_win_unlock(win, 1);
		note(&unlocks_fewest);
	}
	printf("oriel_win_lock %ld\noriel_win_unlock %ld\n", locks_fewest, unlocks_fewest);
	return rc;
}

static int count(void)
{
	uint64_t value = 1;
	int rc = count_locks() || oriel_win_lock_all(win, 0);

	for (int i = 0; rc == 0 && i < TURNS; i++) {
		steps_begin();
		rc = oriel_put(win, &value, sizeof(value), 1, 0);
		note(&puts_fewest);
		steps_begin();
		rc |= oriel_win_flush(win, 1);
		note(&flushes_fewest);
	}
	printf("oriel_put %ld\noriel_win_flush %ld\n", puts_fewest, flushes_fewest);
	return rc || oriel_win_unlock_all(win);
}

int main(void)
{
	oriel_group *world;
	void *base;
	int rc;

	if (!steps_possible())
		return SKIPPED;
	if (oriel_init(NULL, &job) || oriel_group_world(job, &world) || oriel_win_allocate(64, 1, NULL, world, &base, &win))
		return fprintf(stderr, "%s\n", oriel_last_error()), 1;
	rc = oriel_rank(job) == 0 ? count() : 0;
	return rc || oriel_barrier(job) || oriel_win_free(&win) || oriel_group_free(&world) || oriel_finalize(&job);
}
