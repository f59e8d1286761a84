// SPDX-License-Identifier: BSD-2-Clause
/* pscw_lat.c - latency of one epoch of post, start, complete, wait, in several shapes */
#include <stdio.h>

#include "bench/tool.h"

static int plan(const struct perf_options *options, struct tool_plan *plan)
{
	*plan = (struct tool_plan){ .factor = 1, .isolated = true };
	if (options->shape == SHAPE_OSU) {
		plan->pattern = PATTERN_PUT_LAT;
		plan->flow = FLOW_PUT_FROM_HUB | FLOW_PUT_TO_HUB;
		plan->factor = 0.5;
		plan->isolated = false;
	} else if (options->post_late) {
		plan->pattern = PATTERN_EPOCH_LATE;
		plan->flow = FLOW_PUT_TO_HUB;
	} else {
		plan->pattern = PATTERN_EXCHANGE;
		plan->flow = FLOW_PUT_ALL;
	}
	return 0;
}

const struct tool tool = {
	.name = "pscw_lat",
	.what =
		"Latency of an epoch of post, start, put, complete, wait between rank 0 and its --neighbours.\n"
		"--shape osu: rank 0 puts to its neighbours in one epoch and they to it in the next; half of that.\n"
		"--shape isolated --post late: all neighbours wait for rank 0's post; from its post to the end of its wait.\n"
		"--shape isolated --post early: every rank posts, starts, puts to every other, completes and waits.\n"
		"Isolated epochs follow a barrier that is not timed. Size 0: epochs without puts.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_PSCW,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t -l -S --target --type",
	.empty = true,
	.plan = plan,
};
