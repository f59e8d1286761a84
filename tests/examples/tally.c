// SPDX-License-Identifier: BSD-2-Clause
/* tally.c - accumulates: ranks take numbers from a common counter, and count them by their last digit at rank 0 */
#include "check.h"

#define NUMBERS 1000
#define DIGITS 10 /* behind the counter */

static int count_some(oriel_win *win)
{
	int64_t one = 1, mine = 0;
	int rc = oriel_win_lock_all(win, 0);

	while (rc == 0 && mine < NUMBERS) { /* each number is one rank's, whichever is faster */
		rc = oriel_fetch_and_op(win, &one, &mine, ORIEL_INT64, ORIEL_SUM, 0, 0) || oriel_win_flush(win, 0);
		if (rc == 0 && mine < NUMBERS)
			rc = oriel_accumulate(win, &one, 1, ORIEL_INT64, ORIEL_SUM, 0, 1 + (size_t)(mine % DIGITS));
	}
	return rc || oriel_win_unlock_all(win);
}

int main(int argc, char **argv)
{
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	void *base;
	int rc, wrong = 0;

	usage(argc, argv, "oriel-run -n 4 ./tally");
	rc = oriel_init(NULL, &job) || oriel_group_world(job, &world) ||
	     oriel_win_allocate((1 + DIGITS) * sizeof(int64_t), sizeof(int64_t), NULL, world, &base, &win) ||
	     count_some(win) || oriel_barrier(job) || oriel_win_sync(win);
	for (int digit = 0; rc == 0 && oriel_rank(job) == 0 && digit < DIGITS; digit++)
		wrong += ((const int64_t *)base)[1 + digit] != NUMBERS / DIGITS;
	if (rc == 0 && oriel_rank(job) == 0)
		printf("tally: %d numbers, %d digits counted wrong\n", NUMBERS, wrong);
	if (rc || oriel_win_free(&win) || oriel_group_free(&world) || oriel_finalize(&job))
		return fprintf(stderr, "tally: %s\n", oriel_last_error()), 1;
	return wrong != 0;
}
