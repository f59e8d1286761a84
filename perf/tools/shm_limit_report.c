// SPDX-License-Identifier: BSD-2-Clause
/* shm_limit_report.c - options, output and JSON of shm_limit */
#include "tools/shm_limit.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stats.h"

#define MB 1048576.0 /* as perftest counts */

static int usage(const struct shm_test *tests)
{
	fprintf(stderr,
	        "usage: shm_limit [-n TURNS] [-s BYTES | --sizes BYTES,...] [--cores A,B] [--out_json_file=FILE] TEST\n"
	        "tests:");
	for (; tests->name; tests++)
		fprintf(stderr, " %s", tests->name);
	fprintf(stderr, "\nsizes are 1 to %zu bytes\n", SHM_SIZE_MAX_BYTES);
	return 2;
}

static int parse_sizes(struct shm_options *o, const char *text)
{
	char *end = NULL;

	for (o->size_count = 0; *text && o->size_count < SHM_SIZES_MAX; text = end + (*end == ',')) {
		size_t size_bytes = strtoull(text, &end, 10);

		if (end == text || (*end && *end != ',') || size_bytes < 1 || size_bytes > SHM_SIZE_MAX_BYTES)
			return 2;
		o->sizes[o->size_count++] = size_bytes;
	}
	return *text || !o->size_count ? 2 : 0;
}

static int parse_one(struct shm_options *o, int option, const char *text)
{
	switch (option) {
	case 'n':
		o->iterations = strtol(text, NULL, 10);
		return o->iterations < 1 || o->iterations > SHM_ITERATIONS_MAX;
	case 's':
		return parse_sizes(o, text);
	case 'c':
		return sscanf(text, "%d,%d", &o->cores[0], &o->cores[1]) != 2;
	case 'j':
		o->json = text;
		return 0;
	default:
		return 2;
	}
}

int shm_parse(struct shm_options *o, const struct shm_test *tests, int argc, char **argv)
{
	static const struct option names[] = {
		{ "sizes", required_argument, NULL, 's' },
		{ "cores", required_argument, NULL, 'c' },
		{ "out_json_file", required_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	parse_sizes(o, "8");
	while ((option = getopt_long(argc, argv, "n:s:", names, NULL)) != -1) {
		if (parse_one(o, option, optarg))
			return usage(tests);
	}
	for (o->test = tests; optind + 1 == argc && o->test->name; o->test++) {
		if (strcmp(o->test->name, argv[optind]))
			continue;
		if (o->test->one_size)
			parse_sizes(o, "8");
		return 0;
	}
	return usage(tests);
}

static void json_start(const struct shm_options *o, FILE *json)
{
	fprintf(
		json,
		"{\"tool\":\"%s\",\"backend\":\"shm\",\"device\":\"memory\",\"sync\":\"none\",\"window\":\"none\",\"memory\":\"%s\","
		"\"ranks\":2,\"options\":{\"iterations\":%ld,\"cores\":[%d,%d]},\"rows\":[",
		o->test->name, strncmp(o->test->name, "vm", 2) ? "shared" : "private", o->iterations, o->cores[0], o->cores[1]);
}

static void latency(const struct shm_options *o, size_t size_bytes, const struct stats *s, FILE *json)
{
	double share = o->test->latency_share;

	printf("%-10s %8zu %8ld %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f\n", o->test->name, size_bytes,
	       o->iterations, share * s->min, share * s->max, share * s->typical, share * s->average, share * s->stdev,
	       share * s->p99, share * s->p999);
	if (json)
		fprintf(json,
		        "{\"size_bytes\":%zu,\"iterations\":%ld,\"t_min_us\":%.6f,\"t_max_us\":%.6f,\"t_typical_us\":%.6f,"
		        "\"t_avg_us\":%.6f,\"t_stdev_us\":%.6f,\"t_p99_us\":%.6f,\"t_p999_us\":%.6f}",
		        size_bytes, o->iterations, share * s->min, share * s->max, share * s->typical, share * s->average,
		        share * s->stdev, share * s->p99, share * s->p999);
}

static void bandwidth(const struct shm_options *o, size_t size_bytes, const struct stats *s, FILE *json)
{
	double peak = o->test->messages / s->min, average = o->test->messages / s->average; /* per microsecond */
	double mb = (double)size_bytes * 1e6 / MB;

	printf("%-10s %8zu %8ld %12.2f %12.2f %12.6f\n", o->test->name, size_bytes, o->iterations, peak * mb, average * mb,
	       average);
	if (json)
		fprintf(json,
		        "{\"size_bytes\":%zu,\"iterations\":%ld,\"bw_peak_mbps\":%.6f,\"bw_average_mbps\":%.6f,"
		        "\"msg_rate_mpps\":%.9f}",
		        size_bytes, o->iterations, peak * mb, average * mb, average);
}

void shm_report(const struct shm_options *o, size_t size_bytes, double *us, FILE *json, int first)
{
	int is_latency = o->test->latency_share > 0;
	struct stats s;

	stats_compute(us, (size_t)o->iterations, &s);
	if (first)
		printf("#test        #bytes   #turns  %s\n", is_latency ? "t_min t_max t_typical t_avg t_stdev 99% 99.9% [usec]"
		                                                        : "BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]");
	if (json && first)
		json_start(o, json);
	else if (json)
		fputc(',', json);
	if (is_latency)
		latency(o, size_bytes, &s, json);
	else
		bandwidth(o, size_bytes, &s, json);
	fflush(stdout);
}
