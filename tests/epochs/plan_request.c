// SPDX-License-Identifier: BSD-2-Clause
/*
 * plan_request.c - flushes that are waited for later
 *
 * A request is made in a lock epoch of a free phase. When it has been waited for, what its origin had
 * issued to the target before is complete; what came after is not. It may be waited for when the epoch
 * is over, which has completed it, or dropped.
 */
#include "plan_parts.h"

bool plan_request(struct plan *plan, struct event *event, int w, int rank, int target)
{
	struct plan_request *request = plan->request;

	while (request < plan->request + PLAN_REQUESTS_MAX && request->live)
		request++;
	if (request == plan->request + PLAN_REQUESTS_MAX)
		return false;
	*request = (struct plan_request){ .live = true,
		                              .local = rng_chance(&plan->rng, 1, 2),
		                              .win = w,
		                              .phase = plan->win[w].phase,
		                              .origin = rank,
		                              .target = target,
		                              .last = plan->op_serial };
	event->kind = EVENT_IFLUSH;
	event->rank = rank;
	event->win = w;
	event->round = request->phase;
	event->target = target;
	event->local = request->local;
	event->request = (int)(request - plan->request);
	return true;
}

/* What it covers is complete, unless the end of the phase has seen to that. */
static void complete(struct plan *plan, struct event *event, const struct plan_request *request)
{
	event->round = request->phase;
	event->last = request->last;
	if (plan->win[request->win].phase != request->phase)
		return;
	if (request->local)
		plan_complete_origins(plan, event, request->origin, request->target);
	else
		plan_complete_both(plan, event, request->origin, request->target);
}

bool act_request(struct plan *plan, struct event *event)
{
	struct plan_request *request = &plan->request[rng_below(&plan->rng, PLAN_REQUESTS_MAX)];
	uint32_t dice = rng_below(&plan->rng, 8);

	if (!request->live)
		return false;
	request->live = dice < 2;
	if (dice == 7) /* dropped */
		return false;
	event->kind = dice < 2 ? EVENT_REQUEST_TEST : EVENT_REQUEST_WAIT;
	event->rank = request->origin;
	event->win = request->win;
	event->request = (int)(request - plan->request);
	event->by_test = rng_chance(&plan->rng, 1, 3);
	if (event->kind == EVENT_REQUEST_WAIT)
		complete(plan, event, request);
	return true;
}

void plan_drop_requests(struct plan *plan, int w)
{
	for (int i = 0; i < PLAN_REQUESTS_MAX; i++)
		plan->request[i].live &= plan->request[i].win != w;
}
