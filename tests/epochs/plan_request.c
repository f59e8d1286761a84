// SPDX-License-Identifier: BSD-2-Clause
/*
 * plan_request.c - flushes that are waited for later
 *
 * A request is made in a lock epoch of a free phase, in a fence epoch, or in an access epoch of a
 * round. When it has been waited for, what its origin had issued to the target before is complete;
 * what came after is not. It may be waited for when the epoch is over, which has completed it,
 * whatever is deferred in the next; or dropped. In a round it is waited for after the target's
 * post, and tested at any time.
 */
#include "plan_parts.h"

bool plan_request(struct plan *plan, struct event *event, int w, uint32_t round, int rank, int target)
{
	struct plan_request *request = plan->request;

	while (request < plan->request + PLAN_REQUESTS_MAX && request->live)
		request++;
	if (request == plan->request + PLAN_REQUESTS_MAX)
		return false;
	*request = (struct plan_request){ .live = true,
		                              .local = rng_chance(&plan->rng, 1, 2),
		                              .win = w,
		                              .round = round,
		                              .fence = plan->win[w].fences,
		                              .origin = rank,
		                              .target = target,
		                              .last = plan->op_serial };
	event->kind = EVENT_IFLUSH;
	event->rank = rank;
	event->win = w;
	event->round = round;
	event->target = target;
	event->local = request->local;
	event->request = (int)(request - plan->request);
	return true;
}

/* The round that it is of, where the access epoch is open still; or NULL. */
static const struct plan_round *open_round(const struct plan *plan, const struct plan_request *request)
{
	for (int i = 0; i < PLAN_ROUNDS_MAX; i++) {
		const struct plan_round *round = &plan->round[i];

		if (round->id && round->id == request->round && round->rank[request->origin].access == SIDE_OPEN)
			return round;
	}
	return NULL;
}

static bool is_open(const struct plan *plan, const struct plan_request *request)
{
	const struct plan_win *win = &plan->win[request->win];

	if (request->round == 0)
		return win->fence_open && win->fences == request->fence;
	return win->phase == request->round || open_round(plan, request);
}

/* Whether a wait for it ends: what it covers may wait for a post that comes later. */
static bool may_be_awaited(const struct plan *plan, const struct plan_request *request)
{
	const struct plan_round *round = open_round(plan, request);

	return !round || round->rank[request->target].exposure != SIDE_PENDING;
}

/* Completes what the request covers, unless its epoch has ended. */
static void complete(struct plan *plan, struct event *event, const struct plan_request *request)
{
	event->round = request->round;
	event->last = request->last;
	if (!is_open(plan, request))
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

	if (!request->live || (dice >= 2 && !may_be_awaited(plan, request)))
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
