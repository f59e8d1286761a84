// SPDX-License-Identifier: BSD-2-Clause
/*
 * pscw.c - an epoch of post, start, complete and wait with k neighbours, and its cost for each
 *
 *   oriel-run -n 65 oriel_scale_pscw [-n ITERATIONS] [-r REPEATS] [--out_json FILE]
 *
 * Rank 0 has epochs with ranks 1 to k, for k up to the size of the job. Its calls are real, and its
 * flags and 8-byte puts go to the real ranks' memory. The neighbours' flags are simulated: rank 0
 * writes their words before it polls them, so it waits for no rank, and oversubscription does not
 * matter. The others sleep. origin_us is start, a put to each, complete; target_us is post and
 * wait; medians of the repeats, each of ITERATIONS / k epochs. The cost per neighbour must not rise
 * with k.
 */
#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "job/job.h"
#include "win/link.h"
#include "oriel.h"
#include "base/order.h"
#include "scaling/scale.h"
#include "win/win.h"

#define NEIGHBOURS_MAX 64
#define COUNTS 7 /* 1, 2, 4, ... NEIGHBOURS_MAX */
#define WINDOW_BYTES 64
#define RISE_MAX 1.10 /* tolerance for clock and machine */

static oriel_win *win;
static oriel_group *neighbours;
static struct link *links[NEIGHBOURS_MAX];
static double origin_us[COUNTS][SCALE_REPEATS_MAX], target_us[COUNTS][SCALE_REPEATS_MAX];

static void keep_links(int count)
{
	for (int i = 0; i < count; i++) {
		links[i] = link_find(win, i + 1);
		if (!links[i]) {
			fprintf(stderr, "scale_pscw: rank %d is no neighbour yet\n", i + 1);
			exit(1);
		}
	}
}

static void origin_epoch(int count)
{
	uint64_t value = 1;

	for (int i = 0; i < count; i++)
		flag_store(&link_flags(win, links[i])->posted, links[i]->posted_expected + 1); /* pairs with access.c */
	scale_must(oriel_win_start(win, neighbours, 0), "oriel_win_start");
	for (int i = 0; i < count; i++)
		scale_must(oriel_put(win, &value, sizeof(value), i + 1, 0), "oriel_put");
	scale_must(oriel_win_complete(win), "oriel_win_complete");
}

static void target_epoch(int count)
{
	scale_must(oriel_win_post(win, neighbours, 0), "oriel_win_post");
	for (int i = 0; i < count; i++)
		flag_store(&link_flags(win, links[i])->completed, links[i]->completed_expected); /* pairs with exposure.c */
	scale_must(oriel_win_wait(win), "oriel_win_wait");
}

static double measure(void (*epoch)(int), int count, long iterations)
{
	double started = scale_now_us();

	for (long i = 0; i < iterations; i++)
		epoch(count);
	return (scale_now_us() - started) / (double)iterations;
}

/*
 * Measures every k in every repeat, so that disturbances spread over all. Returns the number of k.
 */
static int measure_all(oriel_group *world, int size, long iterations, int repeats)
{
	int ranks[NEIGHBOURS_MAX], at = 0;

	for (int i = 0; i < NEIGHBOURS_MAX; i++)
		ranks[i] = i + 1;
	for (int i = -1; i < repeats; i++) { /* the first warms up */
		at = 0;
		for (int count = 1; count < size; count *= 2, at++) {
			scale_must(oriel_group_incl(world, count, ranks, &neighbours), "oriel_group_incl");
			origin_us[at][i < 0 ? 0 : i] = measure(origin_epoch, count, iterations / count + 1);
			target_us[at][i < 0 ? 0 : i] = measure(target_epoch, count, iterations / count + 1);
			scale_must(oriel_group_free(&neighbours), "oriel_group_free");
		}
	}
	return at;
}

static void tell_all(struct scale *scale, int counts, int repeats)
{
	double least = 0, worst = 0;

	for (int at = 0; at < counts; at++) {
		double origin = scale_median(origin_us[at], repeats), target = scale_median(target_us[at], repeats);
		double count = 1 << at, row[] = { count, origin, target, origin / count, target / count };
		double each = row[3] + row[4];

		scale_row(scale, row);
		if (least > 0 && each / least > worst)
			worst = each / least;
		if (least == 0 || each < least)
			least = each;
	}
	scale_bar(scale, "cost per neighbour at worst, as a multiple of the least with fewer", worst, RISE_MAX);
}

/* Runs real epochs with all ranks, which make connections and descriptions. */
static void warm_up(int rank, int size)
{
	uint64_t value = 1;

	scale_must(oriel_win_fence(win, 0), "oriel_win_fence");
	for (int to = 1; rank == 0 && to < size; to++)
		scale_must(oriel_put(win, &value, sizeof(value), to, 0), "oriel_put");
	scale_must(oriel_win_fence(win, ORIEL_MODE_NOSUCCEED), "oriel_win_fence");
}

static void sleep_until(const _Atomic int *done)
{
	const struct timespec nap = { 0, 20 * 1000 * 1000 };

	while (!atomic_load(done))
		nanosleep(&nap, NULL);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "neighbours", "origin_us", "target_us", "origin_each", "target_each", NULL };
	static const struct option known[] = { { "out_json", required_argument, NULL, 'o' }, { NULL, 0, NULL, 0 } };
	const char *out_json = NULL;
	long iterations = 20000;
	struct scale scale;
	oriel_group *world;
	_Atomic int *done;
	oriel_job *job;
	void *memory;
	int option, repeats = 7, rank, size;

	scale_about(argc, argv, "oriel_scale_pscw [-n ITERATIONS] [-r REPEATS] [--out_json FILE]",
	            "An epoch of post, start, complete and wait with 1 to 64 neighbours, and its cost for each.");
	while ((option = getopt_long(argc, argv, "n:r:", known, NULL)) != -1) {
		if (option == 'n')
			iterations = scale_number(optarg, "-n", 1, 1000000000);
		else if (option == 'r')
			repeats = (int)scale_number(optarg, "-r", 1, SCALE_REPEATS_MAX);
		else if (option == 'o')
			out_json = optarg;
		else
			return 2;
	}
	scale_must(oriel_init(NULL, &job), "oriel_init");
	rank = oriel_rank(job);
	size = oriel_size(job) <= NEIGHBOURS_MAX + 1 ? oriel_size(job) : NEIGHBOURS_MAX + 1;
	scale_begin(&scale, "scale_pscw", names, rank == 0);
	scale.out_json = out_json;
	done = scale_shared(sizeof(*done));
	scale_must(oriel_group_world(job, &world), "oriel_group_world");
	scale_must(oriel_win_allocate(WINDOW_BYTES, 1, NULL, world, &memory, &win), "oriel_win_allocate");
	if (rank == 0)
		scale_shared_unlink();
	warm_up(rank, size);
	if (rank == 0) {
		keep_links(size - 1);
		tell_all(&scale, measure_all(world, size, iterations, repeats), repeats);
		atomic_store(done, 1);
	}
	sleep_until(done);
	scale_must(oriel_win_free(&win), "oriel_win_free");
	scale_must(oriel_group_free(&world), "oriel_group_free");
	scale_must(oriel_finalize(&job), "oriel_finalize");
	return scale_end(&scale);
}
