// SPDX-License-Identifier: BSD-2-Clause
/* ledger.c - locks: every rank moves money between two accounts of rank 0, which calls nothing for it; the sum stays */
#include "check.h"

#define MOVES 100

static int move_one(oriel_win *win, long amount)
{
	long account[2];

	if (oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0) || oriel_get(win, account, sizeof(account), 0, 0) ||
	    oriel_win_flush(win, 0)) /* read, */
		return 1;
	account[0] -= amount; /* change, */
	account[1] += amount;
	return oriel_put(win, account, sizeof(account), 0, 0) ||
	       oriel_win_unlock(win, 0); /* write back: no other rank came between */
}

int main(int argc, char **argv)
{
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	void *base;
	int rc;

	usage(argc, argv, "oriel-run -n 4 ./ledger");
	rc = oriel_init(NULL, &job) || oriel_group_world(job, &world) ||
	     oriel_win_allocate(2 * sizeof(long), 1, NULL, world, &base, &win);
	for (int i = 0; rc == 0 && i < MOVES; i++)
		rc = move_one(win, oriel_rank(job) + 1);
	rc = rc || oriel_barrier(job) || oriel_win_lock(win, ORIEL_LOCK_SHARED, 0, 0) || oriel_win_unlock(win, 0);
	if (rc == 0 && oriel_rank(job) == 0) {
		const long *account = base, moved = (long)MOVES * oriel_size(job) * (oriel_size(job) + 1) / 2;

		printf("ledger: %ld moved, accounts %ld and %ld\n", moved, account[0], account[1]);
		rc = account[1] != moved || account[0] != -moved;
	}
	if (rc || oriel_win_free(&win) || oriel_group_free(&world) || oriel_finalize(&job))
		return fprintf(stderr, "ledger: %s\n", oriel_last_error()), 1;
	return 0;
}
