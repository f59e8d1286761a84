// SPDX-License-Identifier: BSD-2-Clause
/* signal_lat.c - latency of a put with a signal: half of one there and one back */
#include <stdio.h>

#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	*plan = (struct tool_plan){
		.pattern = PATTERN_SIGNAL,
		.flow = FLOW_PUT_FROM_HUB | FLOW_PUT_TO_HUB,
		.factor = 0.5,
	};
	if (options->neighbours > 1)
		return fprintf(stderr, "signal_lat: there is one neighbour\n"), 2;
	return 0;
}

const struct tool tool = {
	.name = "signal_lat",
	.what =
		"Latency of a put with a signal behind it, one way: half of a turn in which rank 0 puts and signals to rank 1,\n"
		"which waits for the signal, and puts and signals back.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_FLUSH,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t -l -S --lock --shape --post --target --type",
	.plan = plan,
};
