// SPDX-License-Identifier: BSD-2-Clause
/*
 * windows.c - the cost of a window among many: to create, to use, in memory
 *
 *   oriel-run -n 2 oriel_scale_windows [-n ITERATIONS] [--windows MOST] [--memory] [--out_json FILE]
 *
 * The program creates windows up to 1, 10, 100, 1,000 and 10,000, keeps all, and uses each once.
 * create_us is one oriel_win_create of the last nine tenths; first_us the first fence, put and
 * fence of a window; put_us an 8-byte put and a fence on changing windows, with that many open;
 * one_us the same on the first window; kib a rank's memory for each window, by
 * /proc/self/smaps_rollup, and usage_bytes by oriel_usage. With --memory times are no bars.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "oriel.h"
#include "scaling/scale.h"

#define WINDOWS_MAX 100000
#define SLICES 9 /* of the turns; the result is the slices' median */
#define CREATE_RISE_MAX 2.0
#define USE_RISE_MAX 1.5
#define WINDOW_KIB_MAX 4.0

static oriel_win *win[WINDOWS_MAX];
static uint64_t memory[WINDOWS_MAX];
static oriel_job *job;

static void use(oriel_win *one)
{
	uint64_t value = 1;
	int other = 1 - oriel_rank(job);

	scale_must(oriel_put(one, &value, sizeof(value), other, 0), "oriel_put");
	scale_must(oriel_win_fence(one, 0), "oriel_win_fence");
}

/* Creates windows from..to - 1. Returns microseconds for each. */
static double make(oriel_group *world, long from, long to)
{
	double started;

	scale_must(oriel_barrier(job), "oriel_barrier");
	started = scale_now_us();
	for (long i = from; i < to; i++)
		scale_must(oriel_win_create(&memory[i], sizeof(memory[i]), 1, NULL, world, &win[i]), "oriel_win_create");
	return (scale_now_us() - started) / (double)(to - from);
}

static double use_first(long from, long to)
{
	double started = scale_now_us();

	for (long i = from; i < to; i++) {
		scale_must(oriel_win_fence(win[i], 0), "oriel_win_fence");
		use(win[i]);
	}
	return (scale_now_us() - started) / (double)(to - from);
}

/*
 * Uses `count` windows in a scattered order, all of them if there are enough turns. Returns a
 * median.
 */
static double use_again(long count, long iterations)
{
	double slice[SLICES];
	long at = 0;

	scale_must(oriel_barrier(job), "oriel_barrier");
	for (int i = 0; i < SLICES; i++) {
		double started = scale_now_us();

		for (long turn = 0; turn < iterations / SLICES + 1; turn++) {
			use(win[at]);
			at = (at + 7919) % count;
		}
		slice[i] = (scale_now_us() - started) / (double)(iterations / SLICES + 1);
	}
	return scale_median(slice, SLICES);
}

static size_t usage_bytes(void)
{
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };

	scale_must(oriel_usage(job, &usage), "oriel_usage");
	return usage.base_bytes + usage.peer_bytes + usage.window_bytes + usage.link_bytes + usage.registered_bytes;
}

static void measure_all(struct scale *scale, oriel_group *world, long most, long iterations, bool times)
{
	long from = 0, kib = scale_memory().private_kib;
	size_t bytes = usage_bytes();
	double one_first = 0, create_first = 0, row[7];

	for (long count = 1; count <= most; from = count, count *= 10) {
		row[0] = (double)count;
		row[1] = make(world, from, count);
		row[2] = use_first(from, count);
		row[3] = use_again(count, iterations);
		row[4] = use_again(1, iterations);
		row[5] = (double)(scale_memory().private_kib - kib) / (double)count;
		row[6] = (double)(usage_bytes() - bytes) / (double)count;
		scale_row(scale, row);
		if (count == 10)
			create_first = row[1];
		if (count == 1)
			one_first = row[4];
	}
	if (from < 100)
		return;
	scale_bar(scale, "KiB of memory for each window", row[5], WINDOW_KIB_MAX);
	if (!times)
		return;
	scale_bar(scale, "oriel_win_create with the most windows, as a multiple of that with ten", row[1] / create_first,
	          CREATE_RISE_MAX);
	scale_bar(scale, "put and fence with the most windows, as a multiple of those on the only one", row[4] / one_first,
	          USE_RISE_MAX);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "windows", "create_us", "first_us",    "put_us",
		                                 "one_us",  "kib",       "usage_bytes", NULL };
	static const struct option known[] = {
		{ "out_json", required_argument, NULL, 'o' },
		{ "windows", required_argument, NULL, 'w' },
		{ "memory", no_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	long iterations = 20000, most = 10000;
	const char *out_json = NULL;
	struct scale scale;
	oriel_group *world;
	bool times = true;
	int option;

	scale_about(argc, argv, "oriel_scale_windows [-n ITERATIONS] [--windows MOST] [--memory] [--out_json FILE]",
	            "The cost of a window among many: to create, to use, in memory.");
	while ((option = getopt_long(argc, argv, "n:", known, NULL)) != -1) {
		if (option == 'n')
			iterations = scale_number(optarg, "-n", 1, 1000000000);
		else if (option == 'w')
			most = scale_number(optarg, "--windows", 1, WINDOWS_MAX);
		else if (option == 'm')
			times = false;
		else if (option == 'o')
			out_json = optarg;
		else
			return 2;
	}
	scale_must(oriel_init(NULL, &job), "oriel_init");
	if (oriel_size(job) != 2) {
		fprintf(stderr, "scale_windows: two ranks are needed\n");
		return 2;
	}
	scale_begin(&scale, "scale_windows", names, oriel_rank(job) == 0);
	scale.out_json = out_json;
	scale_must(oriel_group_world(job, &world), "oriel_group_world");
	measure_all(&scale, world, most, iterations, times);
	for (long i = 0; i < WINDOWS_MAX && win[i]; i++)
		scale_must(oriel_win_free(&win[i]), "oriel_win_free");
	scale_must(oriel_group_free(&world), "oriel_group_free");
	scale_must(oriel_finalize(&job), "oriel_finalize");
	return scale_end(&scale);
}
