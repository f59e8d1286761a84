// SPDX-License-Identifier: BSD-2-Clause
/*
 * live.c FIRST COUNT - random programs of oriel.h in which ranks are late; see live.h
 *
 * In some steps the thread that waits is helped by another thread of its own rank, which is late.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/live.h"
#include "oriel.h"

#define BYTES 64
#define STEPS 6
#define SIGNALS 2

static oriel_job *job;
static oriel_group *world;
static oriel_win *win;
static int rank, size;
static uint64_t state;
static uint8_t buffer[8];

static void must(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, oriel_last_error());
	exit(1);
}

static void late(void)
{
	be_late(&state, rank, size);
}

static void for_one(int (*call)(oriel_win *, const oriel_group *, int), int member)
{
	oriel_group *group;

	must(oriel_group_incl(world, 1, &member, &group));
	must(call(win, group, 0));
	must(oriel_group_free(&group));
}

/* ---- steps ---- */

static void step_barrier(void)
{
	late();
	must(oriel_barrier(job));
}

static void step_fence(void)
{
	late();
	must(oriel_win_fence(win, 0));
	late();
	must(oriel_win_fence(win, 0));
}

/* Each rank is the origin of the next one. */
static void step_ring(void)
{
	late();
	for_one(oriel_win_post, (rank + size - 1) % size);
	late();
	for_one(oriel_win_start, (rank + 1) % size);
	must(oriel_put(win, buffer, sizeof(buffer), (rank + 1) % size, 0));
	late();
	must(oriel_win_complete(win));
	must(oriel_win_wait(win));
}

/* A chain: a rank posts when it has completed towards the one before it. */
static void step_chain(void)
{
	late();
	if (rank > 0) {
		for_one(oriel_win_start, rank - 1);
		must(oriel_win_complete(win));
	}
	late();
	if (rank + 1 < size) {
		for_one(oriel_win_post, rank + 1);
		must(oriel_win_wait(win));
	}
}

/* The origin is in complete, and the target comes to the barrier. */
static void step_post(void)
{
	late();
	if (rank == size - 1) {
		for_one(oriel_win_start, 0);
		must(oriel_win_complete(win));
	}
	if (rank == 0) {
		sleep_ms(LATE_MOST_MS);
		for_one(oriel_win_post, size - 1);
	}
	must(oriel_barrier(job));
	if (rank == 0)
		must(oriel_win_wait(win));
}

static void step_locks(void)
{
	int target = (int)draw(&state, (uint32_t)size);
	bool is_shared = draw(&state, 3) == 0;

	must(oriel_win_lock(win, is_shared && rank % 2 ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE, target, 0));
	late();
	must(oriel_win_unlock(win, target));
}

/* The locks are taken in one order. */
static void step_two_locks(void)
{
	int first = (int)draw(&state, (uint32_t)size), second = (int)draw(&state, (uint32_t)size);

	must(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, first < second ? first : second, 0));
	late();
	if (first != second)
		must(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, first < second ? second : first, 0));
	late();
	if (first != second)
		must(oriel_win_unlock(win, second));
	must(oriel_win_unlock(win, first));
}

static void give_signal(int target)
{
	must(oriel_win_lock_all(win, 0));
	must(oriel_signal(win, target, 0, 1, ORIEL_SIGNAL_ADD));
	must(oriel_win_unlock_all(win));
}

static void take_signal(void)
{
	uint32_t which;
	uint64_t value;

	must(oriel_signal_wait(win, 0, SIGNALS, &which, &value));
}

/* The signal goes round. */
static void step_signals(void)
{
	late();
	if (rank > 0)
		take_signal();
	late();
	give_signal((rank + 1) % size);
	if (rank == 0)
		take_signal();
}

static void *help(void *ms)
{
	sleep_ms(*(uint32_t *)ms);
	give_signal(rank);
	return NULL;
}

/* A thread of each rank waits for a signal of another one. */
static void step_threads(void)
{
	uint32_t ms = draw(&state, LATE_MOST_MS);
	pthread_t thread;

	if (pthread_create(&thread, NULL, help, &ms))
		exit(1);
	take_signal();
	pthread_join(thread, NULL);
}

static void (*const steps[])(void) = { step_barrier, step_fence,     step_ring,    step_post,   step_chain,
	                                   step_locks,   step_two_locks, step_signals, step_threads };

static void run_seed(uint64_t seed)
{
	const struct oriel_hint hints[] = { { "signals", "2" }, { NULL, NULL } };
	void *base;

	state = seed;
	must(oriel_win_allocate(BYTES, 1, hints, world, &base, &win));
	for (int i = 0; i < STEPS; i++) {
		steps[draw(&state, sizeof(steps) / sizeof(steps[0]))]();
		must(oriel_barrier(job));
	}
	late();
	must(oriel_win_free(&win));
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	must(oriel_init(NULL, &job));
	rank = oriel_rank(job);
	size = oriel_size(job);
	must(oriel_group_world(job, &world));
	for (uint64_t seed = first; seed < first + count; seed++)
		run_seed(seed);
	must(oriel_group_free(&world));
	must(oriel_finalize(&job));
	return 0;
}
