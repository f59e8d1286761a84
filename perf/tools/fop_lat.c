// SPDX-License-Identifier: BSD-2-Clause
/* fop_lat.c - latency of a fetch_and_op */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_FOP, .flow = FLOW_COUNT_AT_LAST, .factor = 1 / (double)REPEATS };
	return 0;
}

const struct tool tool = {
	.name = "fop_lat",
	.what =
		"Latency of a fetch_and_op, the sum of 64-bit integers, and a flush. A sample is 16 of them, divided by that. With\n"
		"-q K there are K + 1 ranks, and all but the last add to the same word of its window; the times are rank 0's.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_FLUSH,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t -l -s -a --sizes --shape --post --type",
	.plan = plan,
};
