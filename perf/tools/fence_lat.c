// SPDX-License-Identifier: BSD-2-Clause
/* fence_lat.c - latency of a fence of any number of ranks */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_FENCE, .flow = FLOW_PUT_TO_NEXT, .factor = 1, .any_ranks = true };
	return 0;
}

const struct tool tool = {
	.name = "fence_lat",
	.what =
		"Latency of a fence of all ranks of the job, of which there may be any number. With a size above 0, rank 0\n"
		"puts that much to rank 1 before each.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_FENCE,
	.size_bytes = 0,
	.iterations = 1000,
	.refuses = "-t -l -S -q --neighbours --shape --post --target --type",
	.empty = true,
	.plan = plan,
};
