// SPDX-License-Identifier: BSD-2-Clause
/* tool.h - what distinguishes the benchmark programs */
#ifndef ORIEL_PERF_TOOL_H
#define ORIEL_PERF_TOOL_H

#include "bench/backend.h"

enum tool_kind {
	TOOL_LATENCY,   /* a sample is a turn */
	TOOL_BANDWIDTH, /* a sample is a batch of operations */
};

/* Direction of data; for -c. */
enum tool_flow {
	FLOW_PUT_FROM_HUB = 1,
	FLOW_PUT_TO_HUB = 2,
	FLOW_GET_BY_HUB = 4,
	FLOW_GET_FROM_HUB = 8,
	FLOW_PUT_TO_NEXT = 16, /* from rank 0 to rank 1 only */
	FLOW_PUT_ALL = 32,
	FLOW_PUT_TO_LAST = 64,
	FLOW_ADD_TO_LAST = 128,   /* sums of doubles */
	FLOW_COUNT_AT_LAST = 256, /* REPEATS times 1, from each origin */
};

/* A tool's plan for the options. */
struct tool_plan {
	enum perf_pattern pattern;
	unsigned flow; /* of enum tool_flow; 0: no bytes move, and -c is refused */
	double factor; /* multiplies a sample: 0.5 if a turn goes there and back */
	bool
		together; /* a sample is the mean of REPEATS turns: short ones that wait for no rank */
	bool isolated;  /* each turn follows an untimed barrier, and the hub comes late */
	bool any_ranks; /* the job may have more ranks than hub and neighbours */
	bool both_ways; /* bandwidth: the data of both directions count */
};

struct tool {
	const char *name; /* "put_lat" */
	const char *what; /* one line for --help */
	enum tool_kind kind;
	enum perf_sync sync; /* defaults */
	enum perf_lock lock;
	size_t size_bytes;
	long iterations;
	const long *depths;  /* bandwidth: swept unless -t is given; ends with 0. NULL: 128 */
	const char *refuses; /* options without meaning: "-t --shape" */
	bool empty;          /* size 0 means synchronisation without data */
	bool doubles;        /* sizes are multiples of 8 bytes */
	/* Returns 0, or 2 after printing which options do not go together. */
	int (*plan)(const struct perf_options *options, struct tool_plan *plan);
};

extern const struct tool tool;

#endif
