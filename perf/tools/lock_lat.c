// SPDX-License-Identifier: BSD-2-Clause
/* lock_lat.c - latency of an epoch of lock, put, unlock, with or without contention */
#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	*plan =
		(struct tool_plan){ .pattern = PATTERN_LOCK, .flow = FLOW_PUT_TO_LAST, .factor = 1.0 / options->neighbours };
	plan->together = options->neighbours == 1;
	return 0;
}

const struct tool tool = {
	.name = "lock_lat",
	.what =
		"Latency of lock, put, unlock. With -q K there are K + 1 ranks: the last one's window is locked by all others\n"
		"at once, again and again, and what is told is the time of one hold: rank 0's epoch divided by K. Size 0: without\n"
		"the put. The target waits in a collective call meanwhile.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_LOCK,
	.lock = LOCK_EXCLUSIVE,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t -l -S --shape --post --target --type",
	.empty = true,
	.plan = plan,
};
