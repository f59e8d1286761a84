// SPDX-License-Identifier: BSD-2-Clause
/* plan_end.c - what complete, fence and flush put an end to. */
#include "plan_parts.h"

/* The ends of operations and claims. */

static bool is_covered(uint32_t serial, const struct event *event)
{
	return event->last == 0 || serial <= event->last;
}

void plan_finish_ops(struct plan *plan, struct event *event, int origin, int target)
{
	for (int i = 0; i < PLAN_OPS_MAX; i++) {
		struct plan_op *op = &plan->op[i];

		if (!op->live || op->win != event->win || op->round != event->round || (origin >= 0 && op->origin != origin) ||
		    (target >= 0 && op->target != target) || !is_covered(op->serial, event))
			continue;
		event->done[event->done_count++] = op;
		if (op->signal)
			plan_signal_left(plan, op);
	}
}

/* Their memory is the origin's again; what puts have used is overwritten where nothing is against it. */
static void scribble(struct plan *plan, struct plan_op *op)
{
	if (op->get || op->signal || !rng_chance(&plan->rng, 3, 4))
		return;
	op->scribble = true;
	for (int i = 0; op->scribble && i < op->origin_count; i++)
		op->scribble = op->from[i].size_bytes == 0 || plan_may_store(plan, &op->from[i]);
}

void plan_free_done(struct plan *plan, struct event *event)
{
	for (int i = 0; i < event->done_count; i++) {
		event->done[i]->live = false; /* the content stays until the next event */
		scribble(plan, event->done[i]);
	}
}

static bool of_epoch(const struct claim *claim, const struct event *event)
{
	return claim->side != CLAIM_STORE && claim->win == event->win && claim->round == event->round &&
	       is_covered(claim->serial, event);
}

void plan_end_origins(struct plan *plan, const struct event *event, int origin, int target)
{
	for (int i = 0; i < plan->claims.count; i++) {
		struct claim *claim = &plan->claims.list[i];

		if (of_epoch(claim, event) && claim->side == CLAIM_ORIGIN && (origin < 0 || claim->origin == origin) &&
		    (target < 0 || claim->target == target))
			claim->over = true;
	}
}

void plan_end_targets(struct plan *plan, const struct event *event, int target)
{
	for (int i = 0; i < plan->claims.count; i++) {
		struct claim *claim = &plan->claims.list[i];

		if (of_epoch(claim, event) && claim->side == CLAIM_TARGET && (target < 0 || claim->target == target))
			claim->over = true;
	}
}

static void mark_flushed(struct plan *plan, const struct event *event, int target)
{
	for (int i = 0; i < plan->claims.count; i++) {
		struct claim *claim = &plan->claims.list[i];

		if (of_epoch(claim, event) && claim->side == CLAIM_TARGET && claim->origin == event->rank &&
		    (target < 0 || claim->target == target))
			claim->flushed = true;
	}
}

void plan_complete_origins(struct plan *plan, struct event *event, int origin, int target)
{
	plan_end_origins(plan, event, origin, target);
	plan_finish_ops(plan, event, origin, target);
	plan_sweep(plan);
	plan_free_done(plan, event);
}

void plan_complete_both(struct plan *plan, struct event *event, int origin, int target)
{
	mark_flushed(plan, event, target);
	plan_complete_origins(plan, event, origin, target);
}

/*
 * Flushes: in a fence epoch anywhere, in a round where the targets have posted, in a phase where
 * they are locked.
 */

void plan_flush(struct plan *plan, struct event *event, int w, uint32_t round, int origin, int target)
{
	event->kind = EVENT_FLUSH;
	event->rank = origin;
	event->win = w;
	event->round = round;
	event->target = target;
	event->local = rng_chance(&plan->rng, 1, 3);
	if (event->local)
		plan_complete_origins(plan, event, origin, target);
	else
		plan_complete_both(plan, event, origin, target);
}
