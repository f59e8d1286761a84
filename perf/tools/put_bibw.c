// SPDX-License-Identifier: BSD-2-Clause
/* put_bibw.c - bandwidth of simultaneous puts in both directions */
#include <stdio.h>

#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	if (options->neighbours > 1)
		return fprintf(stderr, "put_bibw: there is one neighbour\n"), 2;
	*plan = (struct tool_plan){
		.pattern = PATTERN_PUT_BIBW,
		.flow = FLOW_PUT_FROM_HUB | FLOW_PUT_TO_HUB,
		.factor = 1,
		.both_ways = true,
	};
	return 0;
}

const struct tool tool = {
	.name = "put_bibw",
	.what = "Bandwidth of puts in both directions at once: batches of -t puts from each side, each ended by its\n"
			"synchronisation. The sum of both directions, as rank 0 sees it.",
	.kind = TOOL_BANDWIDTH,
	.sync = SYNC_FLUSH,
	.size_bytes = 65536,
	.iterations = 5000,
	.refuses = "-H -U --shape --post --target --type",
	.plan = plan,
};
