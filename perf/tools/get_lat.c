// SPDX-License-Identifier: BSD-2-Clause
/*
 * get_lat.c - latency of a get: with flush, get and flush; with epochs, half of a get there and one
 * back
 */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	*plan = (struct tool_plan){ .pattern = PATTERN_GET_LAT, .flow = FLOW_GET_BY_HUB, .factor = 1, .together = true };
	if (options->sync == SYNC_PSCW || options->sync == SYNC_FENCE) {
		plan->flow |= FLOW_GET_FROM_HUB;
		plan->factor = 0.5;
		plan->together = false;
	}
	return 0;
}

const struct tool tool = {
	.name = "get_lat",
	.what =
		"Latency of a get. With flush: a get and a flush, as ib_read_lat; with lock, in an epoch of its own. With pscw and fence: half of a turn in\n"
		"which rank 0 gets from rank 1 in one epoch and rank 1 from rank 0 in the next, as OSU's get latency.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_FLUSH,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t -l --shape --post --target --type",
	.plan = plan,
};
