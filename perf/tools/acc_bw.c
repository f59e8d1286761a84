// SPDX-License-Identifier: BSD-2-Clause
/* acc_bw.c - bandwidth of accumulates */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	(void)options;
	*plan = (struct tool_plan){ .pattern = PATTERN_ACC_BW, .flow = FLOW_ADD_TO_LAST, .factor = 1 };
	return 0;
}

const struct tool tool = {
	.name = "acc_bw",
	.what =
		"Bandwidth of accumulates, the sum of doubles: batches of -t of them, each ended by its synchronisation. With\n"
		"-q K there are K + 1 ranks, and all but the last add to elements of their own in its window; what is told is\n"
		"rank 0's rate times K.",
	.kind = TOOL_BANDWIDTH,
	.sync = SYNC_FLUSH,
	.size_bytes = 4096,
	.iterations = 5000,
	.refuses = "-H -U --shape --post --target",
	.doubles = true,
	.plan = plan,
};
