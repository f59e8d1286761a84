// SPDX-License-Identifier: BSD-2-Clause
/*
 * start.c - the cost of starting a job of many ranks, of a window and of fences
 *
 *   oriel-run -n P oriel_scale_start [-n FENCES] [--seconds S] [--private KIB] [--out_json FILE]
 *
 * Times are those of the slowest rank. start_s: from the launcher's start until oriel_init has
 * returned on all ranks; create_s: oriel_win_create, with its connections; first_s: the first
 * fence; fence_us: a later fence; end_s: from the last fence until oriel_win_free and
 * oriel_finalize have returned on rank 0. Memory is per rank, in KiB, after the fences: private to
 * the process (private), and with its share of shared pages (pss), mean and largest; usage_kib is
 * from oriel_usage. --seconds and --private set bars for the total time and the mean rank's memory.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "oriel.h"
#include "scaling/scale.h"

#define RANKS_MAX 8192
#define WINDOW_BYTES 4096
#define STAT_BYTES 1024

/* Results of one rank. */
struct told {
	double start_s;
	double create_s;
	double first_s;
	double fence_us;
	double private_kib;
	double pss_kib;
	double usage_kib;
	double peers;
};

static struct told *told; /* by rank */
static oriel_job *job;

/* Returns when the launcher started, in seconds since boot. */
static double launcher_started_s(void)
{
	char path[64], text[STAT_BYTES];
	unsigned long long ticks = 0;
	const char *at = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getppid());
	file = fopen(path, "r");
	if (file && fgets(text, sizeof(text), file))
		at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at, NULL, 10);
	if (file)
		fclose(file);
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static double since_boot_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void tell_memory(struct told *mine)
{
	struct scale_memory memory = scale_memory();
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };

	scale_must(oriel_usage(job, &usage), "oriel_usage");
	mine->private_kib = (double)memory.private_kib;
	mine->pss_kib = (double)memory.pss_kib;
	mine->usage_kib =
		(double)(usage.base_bytes + usage.peer_bytes + usage.window_bytes + usage.link_bytes + usage.registered_bytes) /
		1024;
	mine->peers = (double)usage.peers;
}

static oriel_win *work(struct told *mine, oriel_group *world, long fences)
{
	double started = scale_now_us(), made, fenced;
	void *memory = calloc(1, WINDOW_BYTES);
	oriel_win *win;

	scale_must(oriel_win_create(memory, WINDOW_BYTES, 1, NULL, world, &win), "oriel_win_create");
	made = scale_now_us();
	scale_must(oriel_win_fence(win, 0), "oriel_win_fence");
	fenced = scale_now_us();
	for (long i = 0; i < fences; i++)
		scale_must(oriel_win_fence(win, 0), "oriel_win_fence");
	mine->create_s = (made - started) * 1e-6;
	mine->first_s = (fenced - made) * 1e-6;
	mine->fence_us = (scale_now_us() - fenced) / (double)fences;
	return win;
}

static double most(size_t offset, int size)
{
	double value = 0;

	for (int i = 0; i < size; i++) {
		double other = *(const double *)((const char *)&told[i] + offset);

		value = other > value ? other : value;
	}
	return value;
}

static double mean(size_t offset, int size)
{
	double sum = 0;

	for (int i = 0; i < size; i++)
		sum += *(const double *)((const char *)&told[i] + offset);
	return sum / size;
}

static void tell_all(struct scale *scale, int size, double end_s, double limit_s, double limit_kib)
{
	double row[] = {
		size,
		most(offsetof(struct told, start_s), size),
		most(offsetof(struct told, create_s), size),
		most(offsetof(struct told, first_s), size),
		most(offsetof(struct told, fence_us), size),
		end_s,
		mean(offsetof(struct told, private_kib), size),
		most(offsetof(struct told, private_kib), size),
		mean(offsetof(struct told, pss_kib), size),
		mean(offsetof(struct told, usage_kib), size),
		most(offsetof(struct told, peers), size),
	};

	scale_row(scale, row);
	if (limit_s > 0)
		scale_bar(scale, "seconds to start, make a window, fence and finish", row[1] + row[2] + row[3] + end_s,
		          limit_s);
	if (limit_kib > 0)
		scale_bar(scale, "private KiB of a rank", row[6], limit_kib);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "ranks",       "start_s",     "create_s", "first_s",   "fence_us", "end_s",
		                                 "private_kib", "private_max", "pss_kib",  "usage_kib", "peers",    NULL };
	static const struct option known[] = {
		{ "out_json", required_argument, NULL, 'o' },
		{ "seconds", required_argument, NULL, 's' },
		{ "private", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	double started_s = launcher_started_s(), end_s;
	long fences = 10, limit_s = 0, limit_kib = 0;
	const char *out_json = NULL;
	struct scale scale;
	oriel_group *world;
	oriel_win *win;
	int option, rank, size;

	scale_about(argc, argv, "oriel_scale_start [-n FENCES] [--seconds S] [--private KIB] [--out_json FILE]",
	            "The cost of starting a job of many ranks, of a window and of fences.");
	while ((option = getopt_long(argc, argv, "n:", known, NULL)) != -1) {
		if (option == 'n')
			fences = scale_number(optarg, "-n", 1, 1000000000);
		else if (option == 'o')
			out_json = optarg;
		else if (option == 's')
			limit_s = scale_number(optarg, "--seconds", 1, 1000000);
		else if (option == 'p')
			limit_kib = scale_number(optarg, "--private", 1, 1000000000);
		else
			return 2;
	}
	scale_must(oriel_init(NULL, &job), "oriel_init");
	rank = oriel_rank(job);
	size = oriel_size(job);
	scale_begin(&scale, "scale_start", names, rank == 0);
	scale.out_json = out_json;
	told = scale_shared(RANKS_MAX * sizeof(*told));
	told[rank].start_s = since_boot_s() - started_s;
	scale_must(oriel_group_world(job, &world), "oriel_group_world");
	win = work(&told[rank], world, fences);
	if (rank == 0)
		scale_shared_unlink();
	tell_memory(&told[rank]);
	scale_must(oriel_win_fence(win, 0), "oriel_win_fence"); /* all results are written */
	end_s = scale_now_us();
	scale_must(oriel_win_free(&win), "oriel_win_free");
	scale_must(oriel_group_free(&world), "oriel_group_free");
	scale_must(oriel_finalize(&job), "oriel_finalize");
	end_s = (scale_now_us() - end_s) * 1e-6;
	tell_all(&scale, size, end_s, (double)limit_s, (double)limit_kib);
	return scale_end(&scale);
}
