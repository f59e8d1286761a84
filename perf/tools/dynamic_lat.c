// SPDX-License-Identifier: BSD-2-Clause
/* dynamic_lat.c - time to create and free a dynamic window, with one attach and one detach */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_WIN_DYNAMIC, .factor = 1, .any_ranks = true };
	return 0;
}

const struct tool tool = {
	.name = "dynamic_lat",
	.what = "Time to make and free a window that is dynamic, with memory attached and detached.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_PSCW,
	.size_bytes = 4096,
	.iterations = 1000,
	.refuses = "-t -l -S -q --neighbours --shape --post --lock --target --type",
	.plan = plan,
};
