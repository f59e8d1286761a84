// SPDX-License-Identifier: BSD-2-Clause
/* acc_lat.c - latency of an accumulate */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	*plan = (struct tool_plan){ .pattern = PATTERN_ACC, .flow = FLOW_ADD_TO_LAST, .factor = 1 };
	plan->together = options->neighbours == 1;
	return 0;
}

const struct tool tool = {
	.name = "acc_lat",
	.what =
		"Latency of an accumulate: the sum of doubles, and a flush. With -q K there are K + 1 ranks, and all but the last\n"
		"add to elements of their own in its window; the times are rank 0's. The target waits in a collective call.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_FLUSH,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t -l --shape --post --target",
	.doubles = true,
	.plan = plan,
};
