// SPDX-License-Identifier: BSD-2-Clause
/*
 * epochs.c - how many instructions calls take where nothing has to be waited for
 *
 * Two ranks share an allocated window. In a turn rank 1 posts, rank 0 starts, puts 8 bytes, changes
 * single elements and a vector and completes, rank 1 waits; the same again with nothing in the
 * epoch; then rank 0 puts and flushes in lock_all, with nothing outstanding, and locks rank 1 in
 * both ways. Between the steps both meet in a barrier, so that no call waits for the other side.
 * Each call is counted by single steps (bench/steps.h), as it really runs, and printed with the
 * fewest that a turn has needed: "oriel_put 55".
 *
 * usage: oriel-run -n 2 budget-epochs
 */
#include <oriel.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/steps.h"

#define TURNS 20
#define SKIPPED 77 /* this processor does not count */

enum counted {
	NOTHING,
	START,
	PUT,
	FETCH_AND_OP,
	COMPARE_AND_SWAP,
	ACCUMULATE,
	ACCUMULATE_BYTES,
	ACCUMULATE_WORDS,
	PUTV,
	ACCUMULATEV,
	ACCUMULATEV_ACROSS,
	COMPLETE,
	POST,
	WAIT,
	EMPTY_START,
	EMPTY_COMPLETE,
	EMPTY_POST,
	EMPTY_WAIT,
	LOCK_ALL,
	PUT_FIRST,
	PUT_AGAIN,
	FLUSH,
	UNLOCK_ALL,
	LOCK_EXCLUSIVE,
	UNLOCK_EXCLUSIVE,
	LOCK_SHARED,
	UNLOCK_SHARED,
	CALLS,
};

static const char *const names[CALLS] = {
	[START] = "oriel_win_start",
	[PUT] = "oriel_put",
	[FETCH_AND_OP] = "oriel_fetch_and_op",
	[COMPARE_AND_SWAP] = "oriel_compare_and_swap",
	[ACCUMULATE] = "oriel_accumulate",
	[ACCUMULATE_BYTES] = "oriel_accumulate_1024_bytes",
	[ACCUMULATE_WORDS] = "oriel_accumulate_128_words",
	[PUTV] = "oriel_putv_64_pieces",
	[ACCUMULATEV] = "oriel_accumulatev_64_pieces",
	[ACCUMULATEV_ACROSS] = "oriel_accumulatev_64_pieces_across",
	[COMPLETE] = "oriel_win_complete",
	[POST] = "oriel_win_post",
	[WAIT] = "oriel_win_wait",
	[EMPTY_START] = "empty_start",
	[EMPTY_COMPLETE] = "empty_complete",
	[EMPTY_POST] = "empty_post",
	[EMPTY_WAIT] = "empty_wait",
	[LOCK_ALL] = "oriel_win_lock_all",
	[PUT_FIRST] = "oriel_put_first",
	[PUT_AGAIN] = "oriel_put_again",
	[FLUSH] = "oriel_win_flush",
	[UNLOCK_ALL] = "oriel_win_unlock_all",
	[LOCK_EXCLUSIVE] = "oriel_win_lock_exclusive",
	[UNLOCK_EXCLUSIVE] = "oriel_win_unlock_exclusive",
	[LOCK_SHARED] = "oriel_win_lock_shared",
	[UNLOCK_SHARED] = "oriel_win_unlock_shared",
};

static long fewest[CALLS]; /* instructions; 0: never called */

static oriel_job *job;
static oriel_win *win;
static oriel_group *other;

/* The call that steps_begin stands before has returned rc. */
static int note(enum counted what, int rc)
{
	long steps = steps_end().instructions - fewest[NOTHING];

	if (rc)
		fprintf(stderr, "%s: %s\n", names[what], oriel_last_error());
	if (fewest[what] == 0 || steps < fewest[what])
		fewest[what] = steps;
	return rc;
}

/* Every other double of a kilobyte, in a list. */
static int operate_on_pieces(void)
{
	struct oriel_origin_piece origin[64];
	struct oriel_target_piece target[64];
	double numbers[128] = { 0 };
	int rc;

	for (size_t i = 0; i < 64; i++) {
		origin[i] = (struct oriel_origin_piece){ &numbers[2 * i], sizeof(double) };
		target[i] = (struct oriel_target_piece){ 2 * i * sizeof(double), sizeof(double) };
	}
	steps_begin();
	rc = note(PUTV, oriel_putv(win, origin, 64, 1, target, 64));
	steps_begin();
	return rc | note(ACCUMULATEV, oriel_accumulatev(win, origin, 64, ORIEL_DOUBLE, ORIEL_SUM, 1, target, 64));
}

/* Two of three doubles, in a list; the ninth piece lies in two pages. */
static int operate_across(void)
{
	struct oriel_origin_piece origin[64];
	struct oriel_target_piece target[64];
	double numbers[192] = { 0 };

	for (size_t i = 0; i < 64; i++) {
		origin[i] = (struct oriel_origin_piece){ &numbers[3 * i], 2 * sizeof(double) };
		target[i] =
			(struct oriel_target_piece){ 4096 - 25 * sizeof(double) + 3 * i * sizeof(double), 2 * sizeof(double) };
	}
	steps_begin();
	return note(ACCUMULATEV_ACROSS, oriel_accumulatev(win, origin, 64, ORIEL_DOUBLE, ORIEL_SUM, 1, target, 64));
}

static int operate(void)
{
	int64_t value = 1, old, before;
	double number = 1;
	int64_t words[128] = { 0 };
	int8_t bytes[1024] = { 0 };
	int rc;

	steps_begin();
	rc = note(PUT, oriel_put(win, &value, sizeof(value), 1, 0));
	steps_begin();
	rc |= note(FETCH_AND_OP, oriel_fetch_and_op(win, &value, &old, ORIEL_INT64, ORIEL_SUM, 1, 8));
	steps_begin();
	rc |= note(COMPARE_AND_SWAP, oriel_compare_and_swap(win, &value, &old, &before, ORIEL_INT64, 1, 8));
	steps_begin();
	rc |= note(ACCUMULATE, oriel_accumulate(win, &number, 1, ORIEL_DOUBLE, ORIEL_SUM, 1, 16));
	steps_begin();
	rc |= note(ACCUMULATE_BYTES, oriel_accumulate(win, bytes, sizeof(bytes), ORIEL_INT8, ORIEL_SUM, 1, 1024));
	steps_begin(); /* in a page of their own, where single ones keep their instructions */
	rc |= note(ACCUMULATE_WORDS, oriel_accumulate(win, words, 128, ORIEL_INT64, ORIEL_SUM, 1, 4096));
	return rc | operate_on_pieces() | operate_across();
}

static int access_epoch(int (*operations)(void), enum counted start, enum counted complete)
{
	int rc;

	steps_begin();
	rc = note(start, oriel_win_start(win, other, 0));
	if (rc || (operations && operations()))
		return 1;
	steps_begin();
	return note(complete, oriel_win_complete(win));
}

static int barrier(void)
{
	if (oriel_barrier(job) == 0)
		return 0;
	fprintf(stderr, "oriel_barrier: %s\n", oriel_last_error());
	return 1;
}

/* Rank 1's epoch around rank 0's. */
static int exposure_epoch(enum counted post, enum counted wait)
{
	int rc;

	steps_begin();
	rc = note(post, oriel_win_post(win, other, 0));
	if (rc || barrier() || barrier())
		return 1;
	steps_begin();
	return note(wait, oriel_win_wait(win));
}

static int active_target(void)
{
	if (oriel_rank(job) == 1)
		return exposure_epoch(POST, WAIT) || exposure_epoch(EMPTY_POST, EMPTY_WAIT);
	return barrier() || access_epoch(operate, START, COMPLETE) || barrier() || barrier() ||
	       access_epoch(NULL, EMPTY_START, EMPTY_COMPLETE) || barrier();
}

/* The first put of an epoch takes the lock of its target. */
static int inside_lock_all(void)
{
	uint64_t value = 1;
	int rc;

	steps_begin();
	rc = note(LOCK_ALL, oriel_win_lock_all(win, 0));
	steps_begin();
	rc |= note(PUT_FIRST, oriel_put(win, &value, sizeof(value), 1, 0));
	steps_begin();
	rc |= note(PUT_AGAIN, oriel_put(win, &value, sizeof(value), 1, 0));
	steps_begin();
	rc |= note(FLUSH, oriel_win_flush(win, 1));
	steps_begin();
	return rc | note(UNLOCK_ALL, oriel_win_unlock_all(win));
}

static int lock_epoch(enum oriel_lock_type type, enum counted lock, enum counted unlock)
{
	uint64_t value = 1;
	int rc;

	steps_begin();
	rc = note(lock, oriel_win_lock(win, type, 1, 0)) || oriel_put(win, &value, sizeof(value), 1, 0);
	if (rc)
		return rc;
	steps_begin();
	return note(unlock, oriel_win_unlock(win, 1));
}

static int passive_target(void)
{
	if (oriel_rank(job) == 1)
		return barrier();
	return inside_lock_all() || lock_epoch(ORIEL_LOCK_EXCLUSIVE, LOCK_EXCLUSIVE, UNLOCK_EXCLUSIVE) ||
	       lock_epoch(ORIEL_LOCK_SHARED, LOCK_SHARED, UNLOCK_SHARED) || barrier();
}

/*
 * A call and the counting of it, without what a call does: its two instructions are subtracted from
 * the others' counts.
 */
static __attribute__((noinline)) int nothing(oriel_win *window, const oriel_group *group, int assertions)
{
	__asm__ volatile("" ::"r"(window), "r"(group), "r"(assertions));
	return 0;
}

#define OF_NOTHING 2 /* instructions */

/* Both know each other, so that nothing that is counted waits for it. */
static int warm_up(void)
{
	uint64_t value;

	if (oriel_win_fence(win, 0) || oriel_get(win, &value, sizeof(value), 1 - oriel_rank(job), 0) ||
	    oriel_win_fence(win, ORIEL_MODE_NOSUCCEED))
		return 1;
	steps_begin();
	note(NOTHING, nothing(win, other, 0));
	fewest[NOTHING] -= OF_NOTHING;
	return 0;
}

static void tell(void)
{
	for (int i = NOTHING + 1; i < CALLS; i++) {
		if (fewest[i] > 0)
			printf("%s %ld\n", names[i], fewest[i]);
	}
	fflush(stdout);
}

int main(void)
{
	oriel_group *world;
	int peer, rc;
	void *base;

	if (!steps_possible())
		return SKIPPED;
	if (oriel_init(NULL, &job) || oriel_group_world(job, &world) || oriel_size(job) != 2)
		return fprintf(stderr, "oriel_init: %s\n", oriel_last_error()), 1;
	peer = 1 - oriel_rank(job);
	if (oriel_group_incl(world, 1, &peer, &other) || oriel_win_allocate(8192, 1, NULL, world, &base, &win))
		return fprintf(stderr, "window: %s\n", oriel_last_error()), 1;
	rc = warm_up();
	for (int i = 0; rc == 0 && i < TURNS; i++)
		rc = active_target() || passive_target();
	tell();
	return rc || oriel_win_free(&win) || oriel_group_free(&other) || oriel_group_free(&world) || oriel_finalize(&job);
}
