// SPDX-License-Identifier: BSD-2-Clause
/*
 * connect.c - oriel_connect: the cost of first contact and of creating windows
 *
 * Two ranks connect at first contact. Creating a window connects a rank to about 2 log2 p others,
 * so first contacts are measured with the remaining ranks: run 4 ranks or more. All times are rank
 * 0's, or rank 1's for contact with all ranks at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tools/solo.h"
#include "bench/stats.h"
#include "bench/ticks.h"

static const struct tool connect_tool = {
	.name = "connect",
	.what =
		"First contact with another rank (give 4 ranks or more: making a window connects with a few), connections a\n"
		"second when a rank reaches all others at once, and oriel_win_create against ranks and neighbours.\n"
		"-n: windows made for each row.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_PSCW,
	.size_bytes = 8,
	.iterations = 100,
	.refuses = "-s -a --sizes -D -f -t -l -Q -I -q --neighbours -p -H -U -S -w -m --align --shape --post --target "
			   "--report_gbits -c --type",
};

static struct solo solo;
static uint64_t word;

static size_t peers(void)
{
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };

	oriel_usage(solo.job, &usage);
	return usage.peers;
}

/* Prints samples[], in microseconds, and sorts them. */
static void row(const char *what, int ranks, double samples[], size_t count)
{
	struct stats s;

	if (solo.place.rank != 0 || count == 0)
		return;
	stats_compute(samples, count, &s);
	printf(" %-18s %5d %10zu %11zu %11.3f    %11.3f    %13.3f    %11.3f    %13.3f\n", what, ranks, peers(), count,
	       s.min, s.max, s.typical, s.average, s.stdev);
	fflush(stdout);
	if (solo.json)
		fprintf(solo.json,
		        "%s\n{\"what\":\"%s\",\"ranks\":%d,\"neighbours\":%zu,\"iterations\":%zu,\"t_min_us\":%.6f,"
		        "\"t_max_us\":%.6f,\"t_typical_us\":%.6f,\"t_avg_us\":%.6f,\"t_stdev_us\":%.6f,\"t_p99_us\":%.6f,"
		        "\"t_p999_us\":%.6f}",
		        solo.rows ? "," : "", what, ranks, peers(), count, s.min, s.max, s.typical, s.average, s.stdev, s.p99,
		        s.p999);
	solo.rows++;
}

/* Creates windows on the first `ranks` ranks repeatedly. */
static int creates(const char *what, int ranks, long count, double samples[])
{
	oriel_group *group;
	int rc = 0;

	if (solo.place.rank >= ranks)
		return 0;
	if (solo_group(&solo, 0, ranks - 1, -1, &group))
		return 1;
	for (long i = 0; rc == 0 && i < count; i++) {
		uint64_t begin = ticks_now();
		oriel_win *win;

		rc = oriel_win_create(&word, sizeof(word), 1, NULL, group, &win) ? solo_fail("oriel_win_create") : 0;
		samples[i] = (double)(ticks_now() - begin) * ticks_us();
		if (rc == 0 && oriel_win_free(&win))
			rc = solo_fail("oriel_win_free");
	}
	oriel_group_free(&group);
	row(what, ranks, samples, (size_t)count);
	return rc;
}

static int all_creates(double samples[])
{
	int size = solo.place.size;

	for (int ranks = 2; ranks < size; ranks *= 2) {
		if (creates("win_create", ranks, solo.options.iterations, samples))
			return 1;
	}
	return creates("win_create", size, solo.options.iterations, samples);
}

/* Reads eight bytes of each rank from rank 0; samples are the ranks that were not connected. */
static int first_contacts(oriel_win *win, double samples[])
{
	size_t count = 0;
	uint64_t got;

	for (int rank = 1; solo.place.rank == 0 && rank < solo.place.size; rank++) {
		size_t before = peers();
		uint64_t begin = ticks_now();
		double us;

		if (oriel_get(win, &got, sizeof(got), rank, 0) || oriel_win_flush(win, rank))
			return solo_fail("oriel_get");
		us = (double)(ticks_now() - begin) * ticks_us();
		if (peers() > before)
			samples[count++] = us;
	}
	row("first_contact", 2, samples, count);
	return oriel_win_fence(win, ORIEL_MODE_NOSUCCEED) ? solo_fail("oriel_win_fence") : 0;
}

/* Connects rank 1 to all at once; rank 0 gets the time and the number of ranks. */
static int contact_all(oriel_win *win, uint64_t told[2])
{
	int hub = solo.place.size > 1 ? 1 : 0;
	size_t before = peers();
	uint64_t begin;
	double us;

	if (oriel_barrier(solo.job)) /* no rank connects to it before it has counted */
		return solo_fail("oriel_barrier");
	begin = ticks_now();
	if (solo_epoch_with_all(&solo, win, hub))
		return 1;
	us = (double)(ticks_now() - begin) * ticks_us();
	if (oriel_win_fence(win, ORIEL_MODE_NOPRECEDE))
		return solo_fail("oriel_win_fence");
	told[0] = (uint64_t)(us * 1e3);
	told[1] = peers() - before;
	if (solo.place.rank == hub && oriel_put(win, told, 2 * sizeof(told[0]), 0, 0))
		return solo_fail("oriel_put");
	return oriel_win_fence(win, ORIEL_MODE_NOSUCCEED) ? solo_fail("oriel_win_fence") : 0;
}

static void row_rate(const uint64_t seen[2])
{
	double us = (double)seen[0] * 1e-3;

	if (solo.place.rank != 0 || seen[1] == 0)
		return;
	row("contact_all", solo.place.size, &us, 1);
	printf(" %llu connections in %.0f usec: %.0f connections/s\n", (unsigned long long)seen[1], us,
	       (double)seen[1] / us * 1e6);
	if (solo.json)
		fprintf(solo.json, ",\n{\"what\":\"connections\",\"ranks\":%d,\"connections\":%llu,\"connections_per_s\":%.3f}",
		        solo.place.size, (unsigned long long)seen[1], (double)seen[1] / us * 1e6);
}

static int contacts(double samples[])
{
	uint64_t seen[2] = { 0, 0 }, told[2];
	oriel_win *win;
	int rc;

	if (oriel_win_create(seen, sizeof(seen), 1, NULL, solo.world, &win))
		return solo_fail("oriel_win_create");
	rc = oriel_win_fence(win, ORIEL_MODE_NOPRECEDE) ? solo_fail("oriel_win_fence") : 0;
	rc = rc || first_contacts(win, samples) || contact_all(win, told);
	if (rc == 0)
		row_rate(seen);
	if (oriel_win_free(&win))
		return solo_fail("oriel_win_free");
	return rc;
}

static int run(void)
{
	long samples_max = solo.options.iterations > solo.place.size ? solo.options.iterations : solo.place.size;
	double *samples = calloc((size_t)samples_max, sizeof(samples[0]));
	int rc;

	if (!samples)
		return fprintf(stderr, "oriel_connect: no memory for %ld samples\n", samples_max), 1;
	if (solo.place.rank == 0)
		printf(
			" what               ranks neighbours #iterations t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
			"    t_stdev[usec]\n");
	rc = creates("first_win_create", solo.place.size, 1, samples) ||
	     creates("win_create", solo.place.size, solo.options.iterations, samples) || contacts(samples) ||
	     all_creates(samples);
	free(samples);
	return rc;
}

int main(int argc, char *argv[])
{
	int rc = solo_begin(&solo, &connect_tool, argc, argv);

	if (rc)
		return rc - 1;
	rc = run();
	return rc ? rc : solo_end(&solo);
}
