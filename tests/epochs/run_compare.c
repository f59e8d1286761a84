// SPDX-License-Identifier: BSD-2-Clause
/* run_compare.c - this rank's memory beside that of the model */
#include "run.h"

#include <string.h>

static void compare(struct run *run, const char *what, int region, size_t from, size_t to)
{
	const uint8_t *expected = run->model.bytes[run->job->rank][region];
	const uint8_t *got = run->bytes[region];
	size_t at = from;

	if (from >= to || memcmp(expected + from, got + from, to - from) == 0)
		return;
	while (at + 1 < to && expected[at] == got[at])
		at++;
	difference(run, what, region, at, expected[at], got[at]);
}

/* Compares all bytes of a range that no rank can be writing. */
static void compare_stable(struct run *run, const char *what, const struct range *range)
{
	struct unstable *unstable = &run->unstable;
	size_t at = range->offset, end = range->offset + range->size_bytes;

	if (range->size_bytes == 0)
		return;
	plan_unstable(&run->plan, range, unstable);
	for (int i = 0; i < unstable->count && at < end; i++) {
		if (unstable->from[i] > at)
			compare(run, what, range->region, at, unstable->from[i] < end ? unstable->from[i] : end);
		if (unstable->to[i] > at)
			at = unstable->to[i];
	}
	if (at < end)
		compare(run, what, range->region, at, end);
}

void compare_window(struct run *run)
{
	compare_stable(run, "window", &run->plan.win[run->event.win].part[run->job->rank].range);
}

/* Compares now: got data may lie in a window, where others put once the epoch is over. */
static void compare_got(struct run *run, const struct plan_op *op)
{
	for (int i = 0; i < op->origin_count; i++)
		compare_stable(run, op->vector ? "getv" : "get", &op->from[i]);
}

void finish_ops(struct run *run)
{
	for (int i = 0; i < run->event.done_count; i++) {
		const struct plan_op *op = run->event.done[i];

		if (op->origin != run->job->rank)
			continue;
		if (op->get)
			compare_got(run, op);
		compare_stable(run, "result", &op->result);
		if (op->scribble)
			model_fill_pieces(op, ~op->seed, run->bytes);
	}
}

void compare_before_free(struct run *run)
{
	struct range range = run->event.freed.part[run->job->rank].range;

	if (range.size_bytes == 0)
		return;
	plan_unstable(&run->plan, &range, &run->unstable);
	if (run->unstable.count == 0)
		compare(run, "window before free", range.region, range.offset, range.offset + range.size_bytes);
}

void compare_all(struct run *run)
{
	for (int i = 0; i < REGION_FIXED; i++)
		compare(run, "at the end", i, 0, run->plan.region[run->job->rank][i].size_bytes);
}
