// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory.c - a rank's memory in jobs of 10^3 to 10^6 ranks, with 64 neighbours
 *
 *   oriel-run -n 65 oriel_scale_memory [--ends] [--out_json FILE]
 *
 * The library is real, most ranks are simulated: a bootstrap between library and launcher reports N
 * ranks, over which the 65 real ones are spread evenly. These form a group with a window. Each puts
 * to all others in a fence, and has an epoch of post, start, complete and wait with all others.
 * bytes is rank 0's memory by oriel_usage, heap_bytes by malloc. Bar: 10^6 ranks take at most a
 * tenth more than 10^3.
 */
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "boot.h"
#include "conn/service.h"
#include "job/job.h"
#include "oriel.h"
#include "scaling/scale.h"

#define REAL_MAX 65
#define GROWTH_MAX 1.10

/* A bootstrap over the real one: real rank r is rank r * stride of the simulated job. */
struct simulated {
	struct boot boot;
	struct boot *real;
	int stride;
};

static struct simulated simulated; /* one job at a time */

static void tell_value(void *arg, int rank, const char *key, const void *value, size_t size_bytes)
{
	job_boot_events.value(arg, rank * simulated.stride, key, value, size_bytes);
}

static void tell_died(void *arg, int rank, const char *text)
{
	job_boot_events.died(arg, rank * simulated.stride, text);
}

static void tell_lost(void *arg, const char *text)
{
	job_boot_events.lost(arg, text);
}

static int sim_put(struct boot *boot, const char *key, const void *value, size_t size_bytes)
{
	(void)boot;
	return simulated.real->ops->put(simulated.real, key, value, size_bytes);
}

static int sim_get(struct boot *boot, int rank, const char *key)
{
	(void)boot;
	return simulated.real->ops->get(simulated.real, rank / simulated.stride, key);
}

static int sim_leave(struct boot *boot)
{
	(void)boot;
	return simulated.real->ops->leave(simulated.real);
}

static int sim_abort(struct boot *boot, int status, const char *reason)
{
	(void)boot;
	return simulated.real->ops->abort(simulated.real, status, reason);
}

static int sim_fd(const struct boot *boot)
{
	(void)boot;
	return simulated.real->ops->fd(simulated.real);
}

static int sim_dispatch(struct boot *boot)
{
	(void)boot;
	return simulated.real->ops->dispatch(simulated.real);
}

static void sim_close(struct boot *boot)
{
	(void)boot;
	simulated.real->ops->close(simulated.real);
}

/* oriel_init() with N ranks. Returns the number of real ones. */
static int join(int ranks, struct oriel_job **job)
{
	static const struct boot_ops ops = {
		.name = "simulated",
		.put = sim_put,
		.get = sim_get,
		.leave = sim_leave,
		.abort = sim_abort,
		.fd = sim_fd,
		.dispatch = sim_dispatch,
		.close = sim_close,
	};
	static const struct boot_events events = { tell_value, tell_died, tell_lost };
	static const struct oriel_options options;
	int real;

	*job = handle_new(HANDLE_JOB, sizeof(**job));
	if (!*job)
		exit(1);
	scale_must(boot_open(NULL, &events, *job, &simulated.real), "boot_open");
	real = simulated.real->size;
	if (real < 2 || real > REAL_MAX) {
		fprintf(stderr, "scale_memory: %d ranks, 2 to %d are possible\n", real, REAL_MAX);
		exit(2);
	}
	simulated.boot = *simulated.real;
	simulated.boot.ops = &ops;
	simulated.stride = ranks / real;
	simulated.boot.size = ranks;
	simulated.boot.rank *= simulated.stride;
	scale_must(job_open(*job, &simulated.boot, &options), "job_open");
	return real;
}

static void talk(oriel_win *win, oriel_group *others, int real)
{
	uint64_t value = 1;

	scale_must(oriel_win_fence(win, 0), "oriel_win_fence");
	for (int to = 0; to < real; to++)
		scale_must(oriel_put(win, &value, sizeof(value), to, 0), "oriel_put");
	scale_must(oriel_win_fence(win, ORIEL_MODE_NOSUCCEED), "oriel_win_fence");
	scale_must(oriel_win_post(win, others, 0), "oriel_win_post");
	scale_must(oriel_win_start(win, others, 0), "oriel_win_start");
	scale_must(oriel_win_complete(win), "oriel_win_complete");
	scale_must(oriel_win_wait(win), "oriel_win_wait");
}

/* Before glibc 2.33 the numbers are int. */
static size_t heap_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 info = mallinfo2();
#else
	struct mallinfo info = mallinfo();
#endif

	return (size_t)info.uordblks + (size_t)info.hblkhd;
}

/* Runs a job of N ranks, and fills the row with this rank's memory. */
static void measure(int ranks, double row[])
{
	int list[REAL_MAX], real, me, count = 0;
	size_t heap = heap_bytes();
	oriel_group *world, *group, *others;
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };
	struct oriel_job *job;
	uint64_t memory[8];
	oriel_win *win;

	real = join(ranks, &job);
	for (int i = 0; i < real; i++)
		list[i] = i * simulated.stride;
	scale_must(oriel_group_world(job, &world), "oriel_group_world");
	scale_must(oriel_group_incl(world, real, list, &group), "oriel_group_incl");
	me = oriel_group_rank(group);
	for (int i = 0; i < real; i++) {
		if (i != me)
			list[count++] = i;
	}
	scale_must(oriel_group_incl(group, count, list, &others), "oriel_group_incl");
	scale_must(oriel_win_create(memory, sizeof(memory), 1, NULL, group, &win), "oriel_win_create");
	talk(win, others, real);
	scale_must(oriel_usage(job, &usage), "oriel_usage");
	row[0] = ranks;
	row[1] = (double)usage.peers;
	row[2] =
		(double)(usage.base_bytes + usage.peer_bytes + usage.window_bytes + usage.link_bytes + usage.registered_bytes);
	row[3] = (double)(heap_bytes() - heap);
	row[4] = (double)scale_memory().private_kib;
	scale_must(oriel_win_free(&win), "oriel_win_free");
	scale_must(oriel_group_free(&others), "oriel_group_free");
	scale_must(oriel_group_free(&group), "oriel_group_free");
	scale_must(oriel_group_free(&world), "oriel_group_free");
	scale_must(oriel_finalize(&job), "oriel_finalize");
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "ranks", "neighbours", "bytes", "heap_bytes", "private_kib", NULL };
	static const struct option known[] = { { "out_json", required_argument, NULL, 'o' },
		                                   { "ends", no_argument, NULL, 'e' },
		                                   { NULL, 0, NULL, 0 } };
	const char *out_json = NULL, *rank = getenv("ORIEL_RANK");
	double row[5], first[5] = { 0 };
	struct scale scale;
	int option, factor = 10;

	scale_about(
		argc, argv, "oriel_scale_memory [--ends] [--out_json FILE]",
		"A rank's memory in jobs of 10^3 to 10^6 simulated ranks, with --ends in these two alone, with 64 neighbours. "
		"Takes 65 ranks.");
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'o')
			out_json = optarg;
		else if (option == 'e')
			factor = 1000;
		else
			return 2;
	}
	scale_begin(&scale, "scale_memory", names, rank && atoi(rank) == 0);
	scale.out_json = out_json;
	for (int ranks = 1000; ranks <= 1000000; ranks *= factor) {
		measure(ranks, row);
		scale_row(&scale, row);
		for (int i = 0; ranks == 1000 && i < 5; i++)
			first[i] = row[i];
	}
	scale_bar(&scale, "bytes with a million ranks, as a multiple of those with a thousand", row[2] / first[2],
	          GROWTH_MAX);
	scale_bar(&scale, "bytes of the heap, likewise", row[3] / first[3], GROWTH_MAX);
	return scale_end(&scale);
}
