// SPDX-License-Identifier: BSD-2-Clause
/*
 * plan_signal.c - signals
 *
 * Anybody adds to all signals; the first member of a window sets the last one, to ever larger values.
 * So their values only grow, and a wait for what has left its origins ends whatever arrives before or
 * behind. What the values are in the end is exact, and is looked at when the window goes.
 */
#include "plan_parts.h"

#define SET_SIGNAL (PLAN_SIGNALS - 1)

void plan_make_signal(struct plan *plan, struct plan_op *op)
{
	const struct plan_win *win = &plan->win[op->win];
	uint64_t *last = &plan->win[op->win].part[op->target].signal_last[SET_SIGNAL];

	op->live = op->signal = true;
	op->which = rng_below(&plan->rng, PLAN_SIGNALS);
	op->set = op->which == SET_SIGNAL && op->origin == win->members[0];
	op->value = 1 + rng_below(&plan->rng, 100);
	if (op->set)
		op->value = *last += op->value;
}

void plan_signal_left(struct plan *plan, const struct plan_op *op)
{
	struct plan_part *part = &plan->win[op->win].part[op->target];

	if (!op->set)
		part->signal_added[op->which] += op->value;
	else if (op->value > part->signal_set[op->which])
		part->signal_set[op->which] = op->value;
}

bool act_signal_wait(struct plan *plan, struct event *event)
{
	uint32_t signal = rng_below(&plan->rng, PLAN_SIGNALS);
	int w = plan_some_window(plan), rank;
	const struct plan_part *part;

	if (w < 0)
		return false;
	rank = plan->win[w].members[rng_below(&plan->rng, (uint32_t)plan->win[w].count)];
	part = &plan->win[w].part[rank];
	if (part->signal_set[signal] + part->signal_added[signal] == 0)
		return false;
	event->kind = EVENT_SIGNAL_WAIT;
	event->rank = rank;
	event->win = w;
	event->way = (enum signal_way)rng_below(&plan->rng, SIGNAL_WAYS);
	event->signal = signal;
	event->value = part->signal_set[signal] + part->signal_added[signal];
	return true;
}
