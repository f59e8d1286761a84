// SPDX-License-Identifier: BSD-2-Clause
/*
 * epochs.c - the same epoch again and again, for counting instructions
 *
 * Rank 1 posts, rank 0 starts, puts 8 bytes, changes single elements by three calls and completes,
 * rank 1 waits; between these steps both meet in a barrier, so that no call has to wait for the other
 * side, and each takes the same instructions every time.
 *
 * With put or flush rank 0 makes that call so often inside lock_all instead, flush with nothing outstanding; with
 * exclusive or shared it locks rank 1 so, puts 8 bytes, and unlocks it.
 *
 * usage: oriel-run -n 2 budget-epochs TURNS [put|flush|exclusive|shared]
 */
#include <oriel.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int operate(oriel_win *win)
{
	int64_t value = 1, old, before;
	double number = 1;

	return oriel_put(win, &value, sizeof(value), 1, 0) ||
	       oriel_fetch_and_op(win, &value, &old, ORIEL_INT64, ORIEL_SUM, 1, 8) ||
	       oriel_compare_and_swap(win, &value, &old, &before, ORIEL_INT64, 1, 8) ||
	       oriel_accumulate(win, &number, 1, ORIEL_DOUBLE, ORIEL_SUM, 1, 16);
}

static int turn(oriel_job *job, oriel_win *win, oriel_group *other)
{
	int rank = oriel_rank(job);

	if (rank == 1 && oriel_win_post(win, other, 0))
		return fail("oriel_win_post");
	if (oriel_barrier(job))
		return fail("oriel_barrier");
	if (rank == 0 && (oriel_win_start(win, other, 0) || operate(win) || oriel_win_complete(win)))
		return fail("access epoch");
	if (oriel_barrier(job))
		return fail("oriel_barrier");
	return rank == 1 && oriel_win_wait(win) ? fail("oriel_win_wait") : 0;
}

/* Inside one epoch of lock_all: puts, or flushes with nothing outstanding. */
static int turns_in_lock_all(oriel_win *win, int turns, bool puts)
{
	uint64_t value = 1;

	/* What is waited for by flush_local is not counted as flush's. */
	if (oriel_win_lock_all(win, 0) || oriel_put(win, &value, sizeof(value), 1, 0) || oriel_win_flush_local(win, 1))
		return fail("oriel_win_lock_all");
	for (int i = 0; i < turns; i++) {
		if (puts ? oriel_put(win, &value, sizeof(value), 1, 0) : oriel_win_flush(win, 1))
			return fail("operation");
	}
	return oriel_win_unlock_all(win) ? fail("oriel_win_unlock_all") : 0;
}

/* Nobody else wants the lock. Where it lies is found out before, by a call that is not counted. */
static int turns_of_locks(oriel_win *win, int turns, enum oriel_lock_type type)
{
	uint64_t value = 1;

	if (oriel_win_lock_all(win, 0) || oriel_put(win, &value, sizeof(value), 1, 0) || oriel_win_unlock_all(win))
		return fail("oriel_win_lock_all");
	for (int i = 0; i < turns; i++) {
		if (oriel_win_lock(win, type, 1, 0) || oriel_put(win, &value, sizeof(value), 1, 0) || oriel_win_unlock(win, 1))
			return fail("a lock's epoch");
	}
	return 0;
}

static int turns_of(const char *what, oriel_job *job, oriel_win *win, int turns)
{
	if (oriel_rank(job) != 0)
		return 0;
	if (strcmp(what, "put") == 0 || strcmp(what, "flush") == 0)
		return turns_in_lock_all(win, turns, strcmp(what, "put") == 0);
	return turns_of_locks(win, turns, strcmp(what, "shared") == 0 ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE);
}

static int turns_of_epochs(oriel_job *job, oriel_win *win, oriel_group *other, int turns)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < turns; i++)
		rc = turn(job, win, other);
	return rc;
}

int main(int argc, char **argv)
{
	oriel_group *world, *other;
	oriel_job *job;
	oriel_win *win;
	int peer, rc = 0;
	void *base;

	if (argc < 2 || oriel_init(NULL, &job) || oriel_group_world(job, &world) || oriel_size(job) != 2)
		return fail("oriel_init");
	peer = 1 - oriel_rank(job);
	if (oriel_group_incl(world, 1, &peer, &other) || oriel_win_allocate(64, 1, NULL, world, &base, &win))
		return fail("window");
	rc = warm(win, peer);
	if (rc == 0 && argc == 3)
		rc = turns_of(argv[2], job, win, atoi(argv[1]));
	else if (rc == 0)
		rc = turns_of_epochs(job, win, other, atoi(argv[1]));
	return rc || oriel_win_free(&win) || oriel_group_free(&other) || oriel_group_free(&world) || oriel_finalize(&job);
}
