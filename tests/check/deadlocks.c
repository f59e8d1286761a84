// SPDX-License-Identifier: BSD-2-Clause
/*
 * deadlocks.c CASE stuck|slow - programs of oriel.h that never end, and nearly the same ones that do, late
 *
 * Each case is for four ranks. The calls that a report names stand in lines with the mark STUCK;
 * tests/check/run looks for these, and for the ranks of the circle, which stand behind the case. The
 * slow form waits in the same calls for a while.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "oriel.h"
#include "check/cases.h"

#define BYTES 64
#define LATE_MS 400

static oriel_job *job;
static oriel_group *world;
static oriel_win *win;
static int rank;
static uint8_t buffer[8];
static bool is_stuck;

static void must(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, oriel_last_error());
	exit(1);
}

/* The call behind it comes late; or never. */
static bool comes_late(void)
{
	if (!is_stuck)
		nanosleep(&(struct timespec){ 0, LATE_MS * 1000000 }, NULL);
	return !is_stuck;
}

static oriel_group *group_of(int member)
{
	oriel_group *group;

	must(oriel_group_incl(world, 1, &member, &group));
	return group;
}

static void post(int origin)
{
	oriel_group *group = group_of(origin);

	must(oriel_win_post(win, group, 0));
	must(oriel_group_free(&group));
}

static void start(int target, int assertions)
{
	oriel_group *group = group_of(target);

	must(oriel_win_start(win, group, assertions));
	must(oriel_group_free(&group));
}

static void put(int target)
{
	must(oriel_put(win, buffer, sizeof(buffer), target, 0));
}

static void complete(void)
{
	must(oriel_win_complete(win)); /* STUCK */
}

static void await_complete(void)
{
	must(oriel_win_wait(win)); /* STUCK */
}

static void barrier(void)
{
	must(oriel_barrier(job)); /* STUCK */
}

static void fence(int assertions)
{
	must(oriel_win_fence(win, assertions)); /* STUCK */
}

static void lock(int target)
{
	must(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, target, 0)); /* STUCK */
}

static void unlock(int target)
{
	must(oriel_win_unlock(win, target));
}

/* ---- post, start, complete, wait ---- */

static void K29_missed_post(void)
{
	if (rank == 0) {
		start(1, 0);
		put(1);
		complete();
	}
	if (rank == 1 && comes_late()) {
		post(0);
		await_complete();
	}
	barrier();
}

/* The second post is missing: the first one does not count for it. */
static void K29_missed_second_post(void)
{
	for (int i = 0; i < 2; i++) {
		if (rank == 0) {
			start(1, 0);
			complete();
		}
		if (rank == 1 && (i == 0 || comes_late())) {
			post(0);
			await_complete();
		}
	}
	barrier();
}

static void K29_wait_before_complete(void)
{
	if (rank < 2) {
		post(1 - rank);
		start(1 - rank, 0);
		put(1 - rank);
	}
	if (rank == 1 && comes_late())
		complete();
	if (rank < 2)
		await_complete();
	if (rank == 0 || (rank == 1 && is_stuck))
		complete();
	barrier();
}

/* ---- fences and collective calls ---- */

static void K29_fence_against_barrier(void)
{
	if (rank != 0 || comes_late())
		barrier();
	fence(0);
	if (is_stuck)
		barrier();
}

static void K29_fence_once_less(void)
{
	fence(0);
	if (rank != 3 || comes_late())
		fence(0);
}

/* ---- locks ---- */

/* The ranks hold a lock each, and want the next one's. */
static void circle_of_locks(int count)
{
	int next = (rank + 1) % count;

	if (rank < count)
		lock(rank);
	barrier();
	if (rank == 0 && comes_late()) {
		unlock(0);
		lock(0);
	}
	if (rank < count) {
		if (rank == 0 && !is_stuck)
			unlock(0);
		else
			lock(next);
		if (rank != 0 || is_stuck) {
			unlock(next);
			unlock(rank);
		}
	}
	barrier();
}

static void K29_locks_of_two(void)
{
	circle_of_locks(2);
}

static void K29_locks_of_three(void)
{
	circle_of_locks(3);
}

/* ---- signals ---- */

static void signal_to(int target)
{
	start(target, 0);
	must(oriel_signal(win, target, 0, 1, ORIEL_SIGNAL_ADD));
	complete();
}

static void take_signal(void)
{
	uint32_t which;
	uint64_t value;

	must(oriel_signal_wait(win, 0, 1, &which, &value)); /* STUCK */
}

/* Rank 0 holds the lock, and waits for the rank that wants it. */
static void K29_lock_against_signal(void)
{
	if (rank == 0)
		lock(0);
	barrier();
	if (rank == 0 && comes_late())
		unlock(0);
	if (rank == 1) {
		lock(0);
		must(oriel_signal(win, 0, 0, 1, ORIEL_SIGNAL_SET));
		unlock(0);
	}
	if (rank == 0)
		take_signal();
	if (rank == 0 && is_stuck)
		unlock(0);
	barrier();
}

/* One signal comes, two are awaited. */
static void K29_missing_signal(void)
{
	for (int i = 0; i < 2; i++) {
		if (rank == 1 && (i == 0 || comes_late()))
			signal_to(0);
		if (rank == 0 && (i == 0 || !is_stuck))
			post(1);
		if (rank == 0)
			take_signal();
		if (rank == 0 && (i == 0 || !is_stuck))
			await_complete();
	}
	barrier();
}

static void K29_missing_value(void)
{
	if (rank == 1 && comes_late())
		signal_to(0);
	if (rank == 0 && !is_stuck)
		post(1);
	if (rank == 0)
		must(oriel_signal_until(win, 0, 1)); /* STUCK */
	if (rank == 0 && !is_stuck)
		await_complete();
	barrier();
}

static const struct check_case cases[] = {
	{ "K29_missed_post", K29_missed_post },                     /* 0 1 */
	{ "K29_missed_second_post", K29_missed_second_post },       /* 0 1 */
	{ "K29_wait_before_complete", K29_wait_before_complete },   /* 0 1 */
	{ "K29_fence_against_barrier", K29_fence_against_barrier }, /* 0 1 */
	{ "K29_fence_once_less", K29_fence_once_less },             /* 0 3 */
	{ "K29_locks_of_two", K29_locks_of_two },                   /* 0 1 */
	{ "K29_locks_of_three", K29_locks_of_three },               /* 0 1 2 */
	{ "K29_lock_against_signal", K29_lock_against_signal },     /* 0 1 */
	{ "K29_missing_signal", K29_missing_signal },               /* 0 1 */
	{ "K29_missing_value", K29_missing_value },                 /* 0 1 */
	{ NULL, NULL },
};

static void run_case(const struct check_case *chosen)
{
	const struct oriel_hint hints[] = { { "signals", "2" }, { NULL, NULL } };
	void *base;

	must(oriel_win_allocate(BYTES, 1, hints, world, &base, &win));
	must(oriel_win_set_name(win, "halo"));
	chosen->run();
	must(oriel_win_free(&win)); /* STUCK */
}

int main(int argc, char **argv)
{
	const struct check_case *chosen = argc == 3 ? case_of(cases, argv[1]) : NULL;

	if (!chosen)
		return 2;
	must(oriel_init(NULL, &job));
	rank = oriel_rank(job);
	must(oriel_group_world(job, &world));
	is_stuck = strcmp(argv[2], "stuck") == 0;
	run_case(chosen);
	must(oriel_group_free(&world));
	must(oriel_finalize(&job));
	return 0;
}
