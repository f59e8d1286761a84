// SPDX-License-Identifier: BSD-2-Clause
/* rate.c - small puts a second, against the number in flight */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_PUT_BW, .flow = FLOW_PUT_FROM_HUB, .factor = 1 };
	return 0;
}

static const long depths[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 0 };

const struct tool tool = {
	.name = "rate",
	.what =
		"Puts of 8 bytes a second, against the number between two synchronisations (1 to 256, or -t), to -q peers,\n"
		"with a completion every -Q (where the backend lets that be chosen).",
	.kind = TOOL_BANDWIDTH,
	.sync = SYNC_FLUSH,
	.size_bytes = 8,
	.iterations = 50000,
	.depths = depths,
	.refuses = "-H -U --shape --post --target --type",
	.plan = plan,
};
