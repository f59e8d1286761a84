// SPDX-License-Identifier: BSD-2-Clause
/*
 * matrix.c - each pair of operations on the same bytes, in each order and epoch, for three ranks
 *
 * Rank 0 makes the first one; the second is made by rank 0 or by rank 1, behind a barrier. Both
 * touch the same bytes at rank 2, or the same buffer of rank 0. Both are in an epoch of each kind.
 * With locks each is tried with a flush between them, too. The window of each has a name, such as
 * "put get other open all". Rank 0 prints "NAME races" where the table of oriel_check(7) says so.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oriel.h"

enum kind { PUT, GET, ACCUMULATE, READ, FETCH, SWAP, KINDS };
enum place { SAME_ORIGIN, OTHER_ORIGIN, SAME_BUFFER, PLACES };
enum epoch { LOCK_ALL, SHARED, EXCLUSIVE, START, FENCE, EPOCHS };

static const char *const kind_names[KINDS] = { "put", "get", "accumulate", "read", "fetch", "swap" };
static const char *const place_names[PLACES] = { "same", "other", "buffer" };
static const char *const epoch_names[EPOCHS] = { "all", "shared", "exclusive", "start", "fence" };

static oriel_job *job;
static oriel_win *win;
static oriel_group *world, *origins, *target; /* the last two: of an epoch of post and start */
static int rank;
static uint64_t buffers[2];

static void must(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, oriel_last_error());
	exit(1);
}

static void begin(enum epoch epoch)
{
	if (epoch == LOCK_ALL)
		must(oriel_win_lock_all(win, 0));
	if (epoch == SHARED || epoch == EXCLUSIVE)
		must(oriel_win_lock(win, epoch == SHARED ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE, 2, 0));
	if (epoch == START)
		must(rank == 2 ? oriel_win_post(win, origins, 0) : oriel_win_start(win, target, 0));
	if (epoch == FENCE)
		must(oriel_win_fence(win, 0));
}

static void end(enum epoch epoch)
{
	if (epoch == LOCK_ALL)
		must(oriel_win_unlock_all(win));
	if (epoch == SHARED || epoch == EXCLUSIVE)
		must(oriel_win_unlock(win, 2));
	if (epoch == START)
		must(rank == 2 ? oriel_win_wait(win) : oriel_win_complete(win));
	if (epoch == FENCE)
		must(oriel_win_fence(win, 0));
}

/* An operation whose only buffer is this one, or that reads `one` besides. */
static void operate(enum kind kind, uint64_t *buffer, size_t disp)
{
	static const uint64_t one = 1;

	if (kind == PUT)
		must(oriel_put(win, buffer, 8, 2, disp));
	if (kind == GET)
		must(oriel_get(win, buffer, 8, 2, disp));
	if (kind == ACCUMULATE)
		must(oriel_accumulate(win, buffer, 1, ORIEL_UINT64, ORIEL_SUM, 2, disp));
	if (kind == READ)
		must(oriel_fetch_and_op(win, NULL, buffer, ORIEL_UINT64, ORIEL_NO_OP, 2, disp));
	if (kind == FETCH)
		must(oriel_fetch_and_op(win, &one, buffer, ORIEL_UINT64, ORIEL_SUM, 2, disp));
	if (kind == SWAP)
		must(oriel_compare_and_swap(win, &one, &one, buffer, ORIEL_UINT64, 2, disp));
}

static bool is_atomic(enum kind kind)
{
	return kind >= ACCUMULATE;
}

static bool only_reads(enum kind kind)
{
	return kind == GET || kind == READ;
}

static bool conflict(enum kind first, enum kind second, enum place place, enum epoch epoch)
{
	if (place == OTHER_ORIGIN && epoch == EXCLUSIVE)
		return false;
	if (place == SAME_BUFFER)
		return (first != PUT && first != ACCUMULATE) || (second != PUT && second != ACCUMULATE);
	return !(only_reads(first) && only_reads(second)) && !(is_atomic(first) && is_atomic(second));
}

/* The epochs of two exclusive locks follow each other: rank 1 begins its own behind the barrier. */
static void try_in(enum epoch epoch, enum kind first, enum kind second, enum place place, bool is_open)
{
	bool is_late = epoch == EXCLUSIVE && rank != 0;

	if (!is_late)
		begin(epoch);
	if (rank == 0)
		operate(first, &buffers[0], 0);
	if (rank == 0 && !is_open)
		must(oriel_win_flush(win, 2));
	must(oriel_barrier(job));
	if (is_late)
		begin(epoch);
	if (rank == (place == OTHER_ORIGIN))
		operate(second, &buffers[place != SAME_BUFFER], place == SAME_BUFFER ? 8 : 0);
	end(epoch);
}

static void try(enum kind first, enum kind second, enum place place, enum epoch epoch, bool is_open)
{
	char name[64];
	const struct oriel_hint hints[] = { { "name", name }, { NULL, NULL } };
	void *base;

	snprintf(name, sizeof(name), "%s %s %s %s %s", kind_names[first], kind_names[second], place_names[place],
	         is_open ? "open" : "flushed", epoch_names[epoch]);
	must(oriel_win_allocate(16, 1, hints, world, &base, &win));
	try_in(epoch, first, second, place, is_open);
	must(oriel_win_free(&win));
	if (rank == 0 && is_open && conflict(first, second, place, epoch))
		printf("%s races\n", name);
}

static void try_all(enum epoch epoch, bool is_open)
{
	for (int i = 0; i < KINDS * KINDS * PLACES; i++)
		try((enum kind)(i % KINDS), (enum kind)(i / KINDS % KINDS), (enum place)(i / KINDS / KINDS), epoch, is_open);
}

int main(void)
{
	must(oriel_init(NULL, &job));
	rank = oriel_rank(job);
	must(oriel_group_world(job, &world));
	must(oriel_group_incl(world, 2, (const int[]){ 0, 1 }, &origins));
	must(oriel_group_incl(world, 1, (const int[]){ 2 }, &target));
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		try_all((enum epoch)epoch, true);
		if (epoch <= EXCLUSIVE)
			try_all((enum epoch)epoch, false);
	}
	must(oriel_group_free(&target));
	must(oriel_group_free(&origins));
	must(oriel_group_free(&world));
	must(oriel_finalize(&job));
	return 0;
}
