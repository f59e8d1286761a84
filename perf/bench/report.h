// SPDX-License-Identifier: BSD-2-Clause
/* report.h - tables as perftest prints them, and their JSON */
#ifndef ORIEL_PERF_REPORT_H
#define ORIEL_PERF_REPORT_H

#include <stdio.h>

#include "bench/backend.h"
#include "bench/stats.h"
#include "bench/steps.h"
#include "bench/tool.h"

struct report_row {
	size_t size_bytes;
	long depth;
	long iterations;      /* operations counted */
	struct stats latency; /* microseconds; TOOL_LATENCY */
	double peak_per_s;    /* operations a second in the best batch, and overall; TOOL_BANDWIDTH */
	double average_per_s;
	/* Averages of rank 0 for each turn. */
	double yields_per_turn;
	double posted_per_turn;
	double doorbells_per_turn;
	double completions_per_turn;
	double reads_per_turn;
	double atomics_per_turn;
	struct steps steps; /* --count: in the turn with the fewest */
};

struct report {
	const struct tool *tool;
	const char *backend;
	const struct perf_options *options;
	const struct perf_place *place;
	int row_count;
	FILE *json; /* open between begin and end */
};

/* Called by rank 0. They return 0, or 1 after printing why the JSON file cannot be written. */
int report_begin(struct report *report);
void report_row(struct report *report, const struct report_row *row);
int report_end(struct report *report);

#endif
