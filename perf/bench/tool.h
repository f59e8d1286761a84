// SPDX-License-Identifier: BSD-2-Clause
/* tool.h - what distinguishes one benchmark program from another */
#ifndef ORIEL_PERF_TOOL_H
#define ORIEL_PERF_TOOL_H

#include "bench/backend.h"

enum tool_kind {
	TOOL_LATENCY,   /* a sample is a turn */
	TOOL_BANDWIDTH, /* a sample is a batch of operations */
};

/* Whose data arrive where; for -c. */
enum tool_flow {
	FLOW_PUT_FROM_HUB = 1,
	FLOW_PUT_TO_HUB = 2,
	FLOW_GET_BY_HUB = 4,
	FLOW_GET_FROM_HUB = 8,
	FLOW_PUT_TO_NEXT = 16, /* from rank 0 to rank 1 only */
	FLOW_PUT_ALL = 32,
	FLOW_PUT_TO_LAST = 64,
	FLOW_ADD_TO_LAST = 128,   /* sums of doubles */
	FLOW_COUNT_AT_LAST = 256, /* REPEATS times 1, of each origin */
};

/* What the tool makes of the options. */
struct tool_plan {
	enum perf_pattern pattern;
	unsigned flow; /* of enum tool_flow; 0: no bytes move, and -c is refused */
	double factor; /* a sample is multiplied by it: 0.5 where a turn goes there and back. */
	bool
		together; /* a sample is the mean of REPEATS turns: they wait for nobody, and are as short as the clock's ticks */
	bool isolated;  /* each turn follows a barrier that is not timed, and the hub comes late */
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
	const char *refuses; /* options without meaning here: "-t --shape" */
	bool empty;          /* size 0 has a meaning: synchronisation without data */
	bool doubles;        /* sizes are multiples of 8 bytes */
	/* Returns 0, or 2 after telling what does not go together. */
	int (*plan)(const struct perf_options *options, struct tool_plan *plan);
};

extern const struct tool tool;

#endif
