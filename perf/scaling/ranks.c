// SPDX-License-Identifier: BSD-2-Clause
/*
 * ranks.c - oversubscription: a fence and a ping-pong of epochs, against processes that only yield
 *
 *   oriel-run -n P oriel_scale_ranks [-n ITERATIONS] [-r REPEATS] [--bar RATIO] [--out_json FILE]
 *
 * The reference runs in the same processes: ranks 2i and 2i + 1 pass a flag in shared memory back
 * and forth, and call sched_yield while they wait; all pairs at once. A round is there and back.
 * The epochs have the same shape: post, start, put, complete, wait, between 2i and 2i + 1. A fence
 * is of all ranks. A repeat takes its measurements in sequence, all ranks together. The program
 * prints the medians of the repeats, in microseconds.
 */
#include <getopt.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "oriel.h"
#include "scaling/scale.h"

#define RANKS_MAX 4096
#define LINE_BYTES 64
#define WINDOW_BYTES 64
#define ROUNDS_MAX 12
#define RATIO_MAX 3.0
#define SPINS 100 /* polls of the reference before it yields */

/* A rank's part of the shared memory. */
struct turn {
	_Alignas(LINE_BYTES) _Atomic uint64_t number; /* of the ping-pong */
	_Atomic uint64_t barrier[2][ROUNDS_MAX];      /* of the barrier, as in lib/epoch/fence.c */
	double us;                                    /* duration of this rank's last measurement */
};

static struct turn *turns; /* by rank */
static oriel_job *job;
static oriel_win *win;
static oriel_group *partner;
static int rank, other;

static void await(_Atomic uint64_t *word, uint64_t number)
{
	int looks = 0;

	while (atomic_load_explicit(word, memory_order_acquire) != number) {
		if (++looks > SPINS)
			sched_yield();
	}
}

static void yield_round(uint64_t number)
{
	if (rank < other) {
		atomic_store_explicit(&turns[other].number, number, memory_order_release);
		await(&turns[rank].number, number);
	} else {
		await(&turns[rank].number, number);
		atomic_store_explicit(&turns[other].number, number, memory_order_release);
	}
}

/* A fence in the least code. */
static void barrier_round(uint64_t number)
{
	int size = oriel_size(job);

	for (int round = 0; 1 << round < size; round++) {
		struct turn *to = &turns[(rank + (1 << round)) % size];

		atomic_store_explicit(&to->barrier[number & 1][round], number, memory_order_release);
		await(&turns[rank].barrier[number & 1][round], number);
	}
}

static void put_epoch(void)
{
	uint64_t value = 1;

	scale_must(oriel_win_start(win, partner, 0), "oriel_win_start");
	scale_must(oriel_put(win, &value, sizeof(value), other, 0), "oriel_put");
	scale_must(oriel_win_complete(win), "oriel_win_complete");
}

static void take_epoch(void)
{
	scale_must(oriel_win_post(win, partner, 0), "oriel_win_post");
	scale_must(oriel_win_wait(win), "oriel_win_wait");
}

static void epoch_round(uint64_t number)
{
	(void)number;
	if (rank < other) {
		put_epoch();
		take_epoch();
	} else {
		take_epoch();
		put_epoch();
	}
}

static void fence_round(uint64_t number)
{
	(void)number;
	scale_must(oriel_win_fence(win, 0), "oriel_win_fence");
}

/* Returns the slowest rank's time, as pairs may run in sequence. */
static double measure(void (*round)(uint64_t), long iterations)
{
	static uint64_t number;
	double started, longest = 0;

	scale_must(oriel_barrier(job), "oriel_barrier");
	started = scale_now_us();
	for (long i = 0; i < iterations; i++)
		round(++number);
	turns[rank].us = scale_now_us() - started;
	scale_must(oriel_barrier(job), "oriel_barrier");
	for (int i = 0; i < oriel_size(job); i++)
		longest = turns[i].us > longest ? turns[i].us : longest;
	return longest / (double)iterations;
}

static void measure_all(struct scale *scale, long iterations, int repeats, double bar)
{
	double yield[SCALE_REPEATS_MAX], epoch[SCALE_REPEATS_MAX], fence[SCALE_REPEATS_MAX], barrier[SCALE_REPEATS_MAX];
	double row[8];

	for (int i = -1; i < repeats; i++) { /* the first warms up */
		int at = i < 0 ? 0 : i;

		yield[at] = measure(yield_round, iterations);
		epoch[at] = measure(epoch_round, iterations);
		fence[at] = measure(fence_round, iterations);
		barrier[at] = measure(barrier_round, iterations);
	}
	row[0] = oriel_size(job);
	row[1] = scale_median(yield, repeats);
	row[2] = scale_median(epoch, repeats);
	row[3] = scale_median(fence, repeats);
	row[4] = scale_median(barrier, repeats);
	row[5] = row[2] / row[1];
	row[6] = row[3] / row[1];
	row[7] = row[3] / row[4];
	scale_row(scale, row);
	scale_bar(scale, "ping-pong of epochs, as a multiple of one of yields", row[5], bar);
	scale_bar(scale, "fence, as a multiple of a ping-pong of yields", row[6], bar);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "ranks",       "yield_us",    "epoch_us",      "fence_us", "barrier_us",
		                                 "epoch/yield", "fence/yield", "fence/barrier", NULL };
	static const struct option known[] = {
		{ "out_json", required_argument, NULL, 'o' },
		{ "bar", required_argument, NULL, 'b' },
		{ NULL, 0, NULL, 0 },
	};
	void *memory;
	struct scale scale;
	oriel_group *world;
	double bar = RATIO_MAX;
	long iterations = 2000;
	int option, repeats = 5;
	const char *out_json = NULL;

	scale_about(argc, argv, "oriel_scale_ranks [-n ITERATIONS] [-r REPEATS] [--bar RATIO] [--out_json FILE]",
	            "More ranks than processors: a fence and a ping-pong of epochs, against processes that only yield.");
	while ((option = getopt_long(argc, argv, "n:r:", known, NULL)) != -1) {
		if (option == 'n')
			iterations = scale_number(optarg, "-n", 1, 1000000000);
		else if (option == 'r')
			repeats = (int)scale_number(optarg, "-r", 1, SCALE_REPEATS_MAX);
		else if (option == 'b')
			bar = (double)scale_number(optarg, "--bar", 1, 1000);
		else if (option == 'o')
			out_json = optarg;
		else
			return 2;
	}
	scale_must(oriel_init(NULL, &job), "oriel_init");
	rank = oriel_rank(job);
	other = rank ^ 1;
	if (oriel_size(job) % 2 || oriel_size(job) > RANKS_MAX) {
		fprintf(stderr, "scale_ranks: an even number of ranks is needed, at most %d\n", RANKS_MAX);
		return 2;
	}
	scale_begin(&scale, "scale_ranks", names, rank == 0);
	scale.out_json = out_json;
	turns = scale_shared(RANKS_MAX * sizeof(*turns));
	scale_must(oriel_group_world(job, &world), "oriel_group_world");
	scale_must(oriel_group_incl(world, 1, &other, &partner), "oriel_group_incl");
	scale_must(oriel_win_allocate(WINDOW_BYTES, 1, NULL, world, &memory, &win), "oriel_win_allocate");
	if (rank == 0)
		scale_shared_unlink();
	measure_all(&scale, iterations, repeats, bar);
	scale_must(oriel_win_free(&win), "oriel_win_free");
	scale_must(oriel_group_free(&partner), "oriel_group_free");
	scale_must(oriel_group_free(&world), "oriel_group_free");
	scale_must(oriel_finalize(&job), "oriel_finalize");
	return scale_end(&scale);
}
