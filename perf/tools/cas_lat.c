// SPDX-License-Identifier: BSD-2-Clause
/* cas_lat.c - latency of a compare_and_swap */
#include <stdio.h>

#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	*plan = (struct tool_plan){ .pattern = PATTERN_CAS, .flow = FLOW_COUNT_AT_LAST, .factor = 1 / (double)REPEATS };
	if (options->check && options->neighbours > 1)
		return fprintf(stderr, "cas_lat: with several origins some of the swaps fail; -c goes with one\n"), 2;
	return 0;
}

const struct tool tool = {
	.name = "cas_lat",
	.what =
		"Latency of a compare_and_swap of a 64-bit integer, and a flush. A sample is 16 of them, divided by that. With\n"
		"-q K there are K + 1 ranks, and all but the last swap the same word of its window, each from what it saw last;\n"
		"the times are rank 0's.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_FLUSH,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t -l -s -a --sizes --shape --post --type",
	.plan = plan,
};
