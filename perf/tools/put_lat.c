// SPDX-License-Identifier: BSD-2-Clause
/* put_lat.c - latency of a put: half of a put there and a put back */
#include <stdio.h>

#include "bench/options.h"
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	if (options->sync != SYNC_PSCW && options->sync != SYNC_FENCE && options->neighbours > 1)
		return fprintf(stderr, "put_lat: with -S %s there is one neighbour\n", sync_name(options->sync)), 2;
	*plan = (struct tool_plan){
		.pattern = PATTERN_PUT_LAT,
		.flow = FLOW_PUT_FROM_HUB | FLOW_PUT_TO_HUB,
		.factor = 0.5,
	};
	return 0;
}

const struct tool tool = {
	.name = "put_lat",
	.what =
		"Latency of a put, one way: half of a turn in which rank 0 puts to rank 1 and rank 1 puts back.\n"
		"With pscw and fence a turn is an epoch there and an epoch back, as OSU's put latency; with flush and lock\n"
		"the other side polls the last byte, as ib_write_lat.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_PSCW,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t -l --shape --post --target --type",
	.plan = plan,
};
