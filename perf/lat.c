/*
 * lat.c - latencies of patterns: medians over repeats, with the spread
 *
 * usage: oriel-run -n 2 oriel_lat|raw_lat [-n ITERATIONS] [-r REPEATS] [-s BYTES] [PATTERN...]
 * Prints one line a pattern: name, bytes, median, lowest and highest of the repeats' averages, in microseconds a turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "patterns.h"

#define REPEATS_MAX 101

struct options {
	long iterations;
	int repeats;
	size_t size_bytes;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* One repeat: microseconds a turn, or negative after an error. */
static double repeat_once(const struct pattern *pattern, int rank, const struct options *o)
{
	double started;

	if (patterns_barrier(rank))
		return -1;
	started = now_us();
	for (long i = 0; i < o->iterations; i++) {
		if (pattern->turn(rank, o->size_bytes))
			return -1;
	}
	return (now_us() - started) / (double)o->iterations;
}

static int measure(const struct pattern *pattern, int rank, const struct options *o)
{
	double us[REPEATS_MAX];

	for (int i = -1; i < o->repeats; i++) { /* the first one warms up */
		double once = repeat_once(pattern, rank, o);

		if (once < 0)
			return 1;
		us[i < 0 ? 0 : i] = once;
	}
	qsort(us, (size_t)o->repeats, sizeof(us[0]), compare);
	if (rank == 0)
		printf("%-6s %-10s %8zu bytes  %8.2f us  (%.2f to %.2f)  %s\n", implementation, pattern->name, o->size_bytes,
		       us[o->repeats / 2], us[0], us[o->repeats - 1], pattern->what);
	fflush(stdout);
	return 0;
}

static int wanted(const char *name, int argc, char **argv)
{
	if (optind == argc)
		return 1;
	for (int i = optind; i < argc; i++) {
		if (strcmp(argv[i], name) == 0)
			return 1;
	}
	return 0;
}

static int parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:r:s:")) != -1) {
		if (c == 'n')
			o->iterations = atol(optarg);
		else if (c == 'r')
			o->repeats = atoi(optarg);
		else if (c == 's')
			o->size_bytes = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (o->iterations < 1 || o->repeats < 1 || o->repeats > REPEATS_MAX || o->size_bytes < 8 ||
	    o->size_bytes > SIZE_MAX_BYTES) {
		fprintf(stderr, "usage: [-n ITERATIONS] [-r REPEATS, at most %d] [-s BYTES, 8 to %zu] [PATTERN...]\n", REPEATS_MAX,
		        SIZE_MAX_BYTES);
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { 1000, 7, 8 };
	int rank, rc = parse(&o, argc, argv);

	if (rc == 0)
		rc = patterns_open(&rank);
	for (const struct pattern *pattern = patterns; rc == 0 && pattern->name; pattern++) {
		if (wanted(pattern->name, argc, argv))
			rc = measure(pattern, rank, &o);
	}
	return rc ? rc : patterns_close();
}
