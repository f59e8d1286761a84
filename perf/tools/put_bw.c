// SPDX-License-Identifier: BSD-2-Clause
/* put_bw.c - bandwidth of puts, in batches that each end with the synchronisation */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_PUT_BW, .flow = FLOW_PUT_FROM_HUB, .factor = 1 };
	return 0;
}

const struct tool tool = {
	.name = "put_bw",
	.what = "Bandwidth of puts from rank 0: batches of -t puts, each ended by its synchronisation.",
	.kind = TOOL_BANDWIDTH,
	.sync = SYNC_FLUSH,
	.size_bytes = 65536,
	.iterations = 5000,
	.refuses = "-H -U --shape --post --target --type",
	.plan = plan,
};
