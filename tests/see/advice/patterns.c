// SPDX-License-Identifier: BSD-2-Clause
/*
 * patterns.c - a program with a pattern that a sentence of the profile's advice is about, or with
 * one just beside it, for tests (run)
 *
 *   see-patterns PATTERN [SCALE]
 *
 * Delays are SCALE times as long as usual.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "oriel.h"

enum { STEPS = 60, LATE_US = 2000, MANY = 1000000, WINDOW_BYTES = 1 << 20, FEW_WINDOWS = 5, MANY_WINDOWS = 400 };

static oriel_job *job;
static oriel_group *world;
static oriel_win *win;
static int rank, ranks, next, scale = 1;
static const char bytes[64];

static void check(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "patterns: rank %d: %s\n", rank, oriel_last_error());
	exit(EXIT_FAILURE);
}

static void compute(long us)
{
	long scaled_us = us * scale;
	struct timespec nap = { scaled_us / 1000000, scaled_us % 1000000 * 1000 };

	nanosleep(&nap, NULL);
}

/* ---- late ranks ---- */

/* A rank is late at each fence. Each rank puts to the next one. */
static __attribute__((noinline)) void fences(int (*late)(int step))
{
	for (int step = 0; step < STEPS; step++) {
		check(oriel_put(win, bytes, 8, next, 0));
		if (late(step) == rank)
			compute(LATE_US);
		check(oriel_win_fence(win, 0));
	}
}

static int always_rank_2(int step)
{
	(void)step;
	return 2;
}

static int each_in_turn(int step)
{
	return step % ranks;
}

static void one_late_rank(void)
{
	check(oriel_win_fence(win, 0));
	fences(always_rank_2);
}

static void late_ranks_in_turn(void)
{
	check(oriel_win_fence(win, 0));
	fences(each_in_turn);
}

/* ---- locks ---- */

static __attribute__((noinline)) void hold(int holder, long us)
{
	for (int step = 0; step < STEPS; step++) {
		check(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		check(oriel_put(win, bytes, 16, 0, 0));
		if (holder < 0 || holder == rank)
			compute(us);
		check(oriel_win_unlock(win, 0));
		if (holder >= 0 && holder != rank)
			compute(us / 4);
	}
}

static void one_holder(void)
{
	hold(1, LATE_US);
}

static void holders_in_turn(void)
{
	hold(-1, LATE_US / 4);
}

static __attribute__((noinline)) void lock_each_put(void)
{
	for (int i = 0; i < MANY; i++) {
		check(oriel_win_lock(win, ORIEL_LOCK_SHARED, next, 0));
		check(oriel_put(win, bytes, 8, next, 0));
		check(oriel_win_unlock(win, next));
	}
}

static void lock_for_ten_puts(void)
{
	for (int i = 0; i < MANY / 10; i++) {
		check(oriel_win_lock(win, ORIEL_LOCK_SHARED, next, 0));
		for (int k = 0; k < 10; k++)
			check(oriel_put(win, bytes, 8, next, 0));
		check(oriel_win_unlock(win, next));
	}
}

static __attribute__((noinline)) void lock_around(size_t size_bytes)
{
	char element[64];

	for (int i = 0; i < MANY; i++) {
		check(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, next, 0));
		check(oriel_get(win, element, size_bytes, next, 0));
		check(oriel_win_flush(win, next));
		check(oriel_put(win, element, size_bytes, next, 0));
		check(oriel_win_unlock(win, next));
	}
}

static void lock_around_an_element(void)
{
	lock_around(8);
}

static void lock_around_more(void)
{
	lock_around(64);
}

/* ---- puts ---- */

/* `distance` bytes lie between the begins of puts of 8 bytes. */
static __attribute__((noinline)) void puts_and_flushes(int puts_a_flush, size_t distance)
{
	check(oriel_win_lock_all(win, 0));
	for (int i = 0; i < MANY; i++) {
		check(oriel_put(win, bytes, 8, next, (size_t)i * distance % WINDOW_BYTES));
		if (i % puts_a_flush == 0)
			check(oriel_win_flush(win, next));
	}
	check(oriel_win_unlock_all(win));
}

static void flush_each_put(void)
{
	puts_and_flushes(1, 64);
}

static void flush_for_ten_puts(void)
{
	puts_and_flushes(10, 64);
}

static void puts_in_a_row(void)
{
	puts_and_flushes(MANY, 8);
}

static void puts_apart(void)
{
	puts_and_flushes(MANY, 16);
}

/* ---- operations that the target applies ---- */

/* Rank 0 sends; rank 1 is in a barrier, or computes, until it has. */
static __attribute__((noinline)) void accumulate_to(bool target_computes, int bursts, int operations)
{
	static const long double one = 1;
	static long double sums[2]; /* not mapped by the other rank; elements that are not aligned take a message */
	oriel_win *made;

	check(oriel_win_create(sums, sizeof(sums), 1, NULL, world, &made));
	if (rank == 1 && target_computes) {
		for (int i = 0; i < STEPS; i++)
			compute(LATE_US);
	}
	for (int i = 0; rank == 0 && i < bursts; i++) {
		check(oriel_win_lock(made, ORIEL_LOCK_SHARED, 1, 0));
		for (int k = 0; k < operations; k++)
			check(oriel_accumulate(made, &one, 1, ORIEL_LONG_DOUBLE, ORIEL_SUM, 1, 4));
		check(oriel_win_unlock(made, 1));
	}
	check(oriel_win_free(&made));
}

static void target_computes(void)
{
	accumulate_to(true, 400, 1);
}

static void target_waits(void)
{
	accumulate_to(false, 400, 1);
}

static void bursts(void)
{
	accumulate_to(true, 2, 40000);
}

/* ---- windows ---- */

static __attribute__((noinline)) void make_windows(int count)
{
	for (int i = 0; i < count; i++) {
		oriel_win *made;
		void *base;

		check(oriel_win_allocate(4096, 1, NULL, world, &base, &made));
		check(oriel_win_free(&made));
	}
}

static void many_windows(void)
{
	make_windows(MANY_WINDOWS);
}

static void few_windows(void)
{
	make_windows(FEW_WINDOWS);
}

static const struct {
	const char *name;
	void (*run)(void);
} patterns[] = {
	{ "one_late_rank", one_late_rank },
	{ "late_ranks_in_turn", late_ranks_in_turn },
	{ "one_holder", one_holder },
	{ "holders_in_turn", holders_in_turn },
	{ "lock_each_put", lock_each_put },
	{ "lock_for_ten_puts", lock_for_ten_puts },
	{ "lock_around_an_element", lock_around_an_element },
	{ "lock_around_more", lock_around_more },
	{ "flush_each_put", flush_each_put },
	{ "flush_for_ten_puts", flush_for_ten_puts },
	{ "puts_in_a_row", puts_in_a_row },
	{ "puts_apart", puts_apart },
	{ "target_computes", target_computes },
	{ "target_waits", target_waits },
	{ "bursts", bursts },
	{ "many_windows", many_windows },
	{ "few_windows", few_windows },
};

int main(int argc, char **argv)
{
	size_t i = 0, count = sizeof(patterns) / sizeof(*patterns);
	void *base;

	while (argc > 1 && i < count && strcmp(argv[1], patterns[i].name) != 0)
		i++;
	if (argc < 2 || i == count)
		return fprintf(stderr, "patterns: there is no such pattern\n"), EXIT_FAILURE;
	scale = argc > 2 ? atoi(argv[2]) : 1;
	check(oriel_init(NULL, &job));
	rank = oriel_rank(job);
	ranks = oriel_size(job);
	next = (rank + 1) % ranks;
	check(oriel_group_world(job, &world));
	check(oriel_win_allocate(WINDOW_BYTES, 1, NULL, world, &base, &win));
	check(oriel_win_set_name(win, "made <&>"));
	patterns[i].run();
	check(oriel_win_free(&win));
	check(oriel_group_free(&world));
	check(oriel_finalize(&job));
	return EXIT_SUCCESS;
}
