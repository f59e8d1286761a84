// SPDX-License-Identifier: BSD-2-Clause
/*
 * epochs.c - the same epoch again and again, for counting instructions
 *
 * Rank 1 posts, rank 0 starts, puts 8 bytes and completes, rank 1 waits; between these steps both
 * meet in a barrier, so that no call has to wait for the other side, and each takes the same
 * instructions every time.
 *
 * usage: oriel-run -n 2 budget-epochs TURNS
 */
#include <oriel.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *call)
{
	fprintf(stderr, "%s: %s\n", call, oriel_last_error());
	return 1;
}

/* Both know each other, so that nothing that is counted waits for it. */
static int warm(oriel_win *win, int peer)
{
	uint64_t value;

	if (oriel_win_fence(win, 0) || oriel_get(win, &value, sizeof(value), peer, 0) ||
	    oriel_win_fence(win, ORIEL_MODE_NOSUCCEED))
		return fail("warm-up");
	return 0;
}

static int turn(oriel_job *job, oriel_win *win, oriel_group *other)
{
	int rank = oriel_rank(job);
	uint64_t value = 1;

	if (rank == 1 && oriel_win_post(win, other, 0))
		return fail("oriel_win_post");
	if (oriel_barrier(job))
		return fail("oriel_barrier");
	if (rank == 0 &&
	    (oriel_win_start(win, other, 0) || oriel_put(win, &value, sizeof(value), 1, 0) || oriel_win_complete(win)))
		return fail("access epoch");
	if (oriel_barrier(job))
		return fail("oriel_barrier");
	return rank == 1 && oriel_win_wait(win) ? fail("oriel_win_wait") : 0;
}

int main(int argc, char **argv)
{
	oriel_group *world, *other;
	oriel_job *job;
	oriel_win *win;
	int peer, rc = 0;
	void *base;

	if (argc != 2 || oriel_init(NULL, &job) || oriel_group_world(job, &world) || oriel_size(job) != 2)
		return fail("oriel_init");
	peer = 1 - oriel_rank(job);
	if (oriel_group_incl(world, 1, &peer, &other) || oriel_win_allocate(64, 1, NULL, world, &base, &win))
		return fail("window");
	rc = warm(win, peer);
	for (int i = atoi(argv[1]); rc == 0 && i > 0; i--)
		rc = turn(job, win, other);
	return rc || oriel_win_free(&win) || oriel_group_free(&other) || oriel_group_free(&world) || oriel_finalize(&job);
}
