// SPDX-License-Identifier: BSD-2-Clause
/* get_bw.c - bandwidth of gets, in batches that each end with the synchronisation */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_GET_BW, .flow = FLOW_GET_BY_HUB, .factor = 1 };
	return 0;
}

const struct tool tool = {
	.name = "get_bw",
	.what = "Bandwidth of gets by rank 0: batches of -t gets, each ended by its synchronisation.",
	.kind = TOOL_BANDWIDTH,
	.sync = SYNC_FLUSH,
	.size_bytes = 65536,
	.iterations = 5000,
	.refuses = "-H -U --shape --post --target --type",
	.plan = plan,
};
