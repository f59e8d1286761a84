// SPDX-License-Identifier: BSD-2-Clause
/* allocate_lat.c - time to allocate and free a window with memory of its own */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_WIN_ALLOCATE, .factor = 1, .any_ranks = true };
	return 0;
}

const struct tool tool = {
	.name = "allocate_lat",
	.what = "Time to make and free a window with memory of its own.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_PSCW,
	.size_bytes = 4096,
	.iterations = 1000,
	.refuses = "-t -l -S -q --neighbours --shape --post --lock --target --type",
	.plan = plan,
};
