// SPDX-License-Identifier: BSD-2-Clause
/* flush_lat.c - latency of a flush with nothing outstanding */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_FLUSH, .factor = 1 / (double)REPEATS };
	return 0;
}

const struct tool tool = {
	.name = "flush_lat",
	.what = "Latency of a flush with nothing outstanding. A sample is 16 of them, divided by that.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_FLUSH,
	.size_bytes = 0,
	.iterations = 10000,
	.refuses = "-t -l -s -a --sizes --shape --post --lock --target --type",
	.empty = true,
	.plan = plan,
};
