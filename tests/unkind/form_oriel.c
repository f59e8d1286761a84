// SPDX-License-Identifier: BSD-2-Clause
/* form_oriel.c - the calls of bugs.c in Oriel */
#include <stdio.h>
#include <stdlib.h>

#include "oriel.h"
#include "unkind/bugs.h"

static oriel_job *job;
static oriel_group *world, *other; /* other: the other rank */
static oriel_win *win, *sums;
static int rank;
static long others; /* the window of sums */
static long memory[LONGS_MAX];

static void check(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s\n", oriel_last_error());
	exit(1);
}

static int begin(int *argc, char ***argv)
{
	int partner;

	(void)argc, (void)argv;
	check(oriel_init(NULL, &job));
	rank = oriel_rank(job);
	partner = 1 - rank;
	check(oriel_group_world(job, &world));
	check(oriel_group_incl(world, 1, &partner, &other));
	check(oriel_win_create(&others, sizeof(others), sizeof(others), NULL, world, &sums));
	return rank;
}

static void end(void)
{
	check(oriel_win_free(&sums));
	check(oriel_group_free(&other));
	check(oriel_group_free(&world));
	check(oriel_finalize(&job));
}

static long *window(enum kind kind)
{
	void *base = memory;

	if (kind == SHARED)
		check(oriel_win_allocate_shared(sizeof(memory), sizeof(long), NULL, world, &base, &win));
	else if (kind == ALLOCATED)
		check(oriel_win_allocate(sizeof(memory), sizeof(long), NULL, world, &base, &win));
	else
		check(oriel_win_create(base, sizeof(memory), sizeof(long), NULL, world, &win));
	return base;
}

static void window_free(void)
{
	check(oriel_win_free(&win));
}

static void barrier(void)
{
	check(oriel_barrier(job));
}

static void open(enum how how)
{
	switch (how) {
	case BY_FENCE:
		check(oriel_win_fence(win, 0));
		break;
	case BY_COMPLETE:
		check(rank == 0 ? oriel_win_start(win, other, 0) : oriel_win_post(win, other, 0));
		break;
	case BY_UNLOCK:
		barrier();
		check(rank == 0 ? oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 1, 0) : 0);
		break;
	default:
		barrier();
		check(rank == 0 ? oriel_win_lock_all(win, 0) : 0);
	}
}

static void close(enum how how)
{
	switch (how) {
	case BY_FENCE:
		check(oriel_win_fence(win, 0));
		break;
	case BY_COMPLETE:
		check(rank == 0 ? oriel_win_complete(win) : oriel_win_wait(win));
		break;
	case BY_UNLOCK:
		check(rank == 0 ? oriel_win_unlock(win, 1) : 0);
		break;
	default:
		check(rank == 0 ? oriel_win_flush(win, 1) : 0);
		check(rank == 0 ? oriel_win_unlock_all(win) : 0);
	}
}

static void put(const long *from, size_t count, size_t at)
{
	check(oriel_put(win, from, count * sizeof(long), 1, at));
}

static void get(long *to, size_t count, size_t at)
{
	check(oriel_get(win, to, count * sizeof(long), 1, at));
}

static int sum(int mine)
{
	long number = mine;

	check(oriel_win_fence(sums, 0));
	check(oriel_put(sums, &number, sizeof(number), 1 - rank, 0));
	check(oriel_win_fence(sums, 0));
	return mine + (int)others;
}

const struct form form = { begin, end, window, window_free, open, close, put, get, barrier, sum };
