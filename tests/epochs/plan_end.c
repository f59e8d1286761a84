// SPDX-License-Identifier: BSD-2-Clause
/* plan_end.c - what complete, fence and flush put an end to. */
#include "plan_parts.h"

/* The ends of operations and claims. */

void plan_finish_ops(struct plan *plan, struct event *event, int origin, int target)
{
	for (int i = 0; i < PLAN_OPS_MAX; i++) {
		struct plan_op *op = &plan->op[i];

		if (!op->live || op->win != event->win || op->round != event->round || (origin >= 0 && op->origin != origin) ||
		    (target >= 0 && op->target != target))
			continue;
		event->done[event->done_count++] = op;
	}
}

/* Their memory is the origin's again; what puts have used is overwritten where nothing is against it. */
static void scribble(struct plan *plan, struct plan_op *op)
{
	if (op->get || !rng_chance(&plan->rng, 3, 4))
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
	return claim->side != CLAIM_STORE && claim->win == event->win && claim->round == event->round;
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

static void mark_flushed(struct plan *plan, const struct event *event)
{
	for (int i = 0; i < plan->claims.count; i++) {
		struct claim *claim = &plan->claims.list[i];

		if (of_epoch(claim, event) && claim->side == CLAIM_TARGET && claim->origin == event->rank &&
		    (event->target < 0 || claim->target == event->target))
			claim->flushed = true;
	}
}

/* Flushes: in a fence epoch anywhere, in a round where the targets have posted. */

void plan_flush(struct plan *plan, struct event *event, int w, uint32_t round, int origin, int target)
{
	event->kind = EVENT_FLUSH;
	event->rank = origin;
	event->win = w;
	event->round = round;
	event->target = target;
	event->local = rng_chance(&plan->rng, 1, 3);
	plan_end_origins(plan, event, origin, target);
	if (!event->local)
		mark_flushed(plan, event);
	plan_finish_ops(plan, event, origin, target);
	plan_sweep(plan);
	plan_free_done(plan, event);
}
