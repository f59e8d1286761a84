// SPDX-License-Identifier: BSD-2-Clause
/* plan.c - which event comes next; see plan.h. */
#include "plan.h"

#include <string.h>

#include "oriel.h"
#include "plan_parts.h"

#define ACTIONS_TRIED 200

bool plan_takes_part(const struct plan *plan, int rank)
{
	for (int i = 0; i < plan->part_count; i++) {
		if (plan->parts[i] == rank)
			return true;
	}
	return false;
}

void plan_shuffle(struct rng *rng, int list[], int count)
{
	for (int i = count - 1; i > 0; i--) {
		int j = (int)rng_below(rng, (uint32_t)i + 1), swapped = list[i];

		list[i] = list[j];
		list[j] = swapped;
	}
}

static int some_part(struct plan *plan)
{
	return plan->parts[rng_below(&plan->rng, (uint32_t)plan->part_count)];
}

/* Set-up. */

static void init_regions(struct plan *plan, int rank)
{
	static const size_t sizes[REGION_FIXED] = { REGION_HEAP_BYTES, REGION_STATIC_BYTES, REGION_STACK_BYTES };

	for (int i = 0; i < REGION_FIXED; i++) {
		struct plan_region *region = &plan->region[rank][i];

		region->kind = (enum region_kind)(REGION_HEAP + i);
		region->size_bytes = sizes[i];
		region->serial = ++plan->serial;
	}
}

void plan_init(struct plan *plan, uint64_t seed, int ranks, int steps)
{
	struct rng *rng = &plan->rng;

	memset(plan, 0, sizeof(*plan));
	plan->seed = seed;
	plan->rng.state = seed * 0xd1342543de82ef95u + 1;
	plan->ranks = ranks;
	for (int i = 0; i < ranks; i++)
		plan->parts[i] = i;
	plan_shuffle(rng, plan->parts, ranks);
	plan->part_count = ranks < 2 ? ranks : 2 + (int)rng_below(rng, (uint32_t)ranks - 1);
	plan->steps = 60 + (int)rng_below(rng, 200);
	if (steps > 0)
		plan->steps = steps;
	plan->want_windows = 1 + (int)rng_below(rng, 4);
	plan->want_rounds = 1 + (int)rng_below(rng, 4);
	plan->hold_post = rng_below(rng, 8);
	plan->hold_start = rng_below(rng, 8);
	plan->hold_wait = rng_below(rng, 8);
	plan->fences = rng_below(rng, 8);
	plan->locks = rng_below(rng, 8);
	plan->accumulates = rng_below(rng, 8);
	plan->signals = rng_below(rng, 9);
	plan->op_serial = 1; /* a request before all operations covers up to this one */
	plan->large = rng_chance(rng, 1, 4) ? 6 : 1;
	for (int i = 0; i < plan->part_count; i++)
		init_regions(plan, plan->parts[i]);
}

/* The ranks' own doings. */

static bool act_store(struct plan *plan, struct event *event)
{
	int rank = some_part(plan), region = (int)rng_below(&plan->rng, PLAN_REGIONS_MAX);
	size_t size_bytes = plan->region[rank][region].size_bytes;
	uint32_t most = size_bytes < 4000 ? (uint32_t)size_bytes : 4000;

	if (plan->region[rank][region].kind == REGION_NONE)
		return false;
	event->range = (struct range){ rank, region, 0, 1 + rng_below(&plan->rng, most) };
	event->range.offset = rng_below(&plan->rng, (uint32_t)(size_bytes - event->range.size_bytes) + 1);
	if (!plan_may_store(plan, &event->range))
		return false;
	event->kind = EVENT_STORE;
	event->rank = rank;
	event->seed = rng_next(&plan->rng);
	return true;
}

static bool act_delay(struct plan *plan, struct event *event)
{
	event->kind = EVENT_DELAY;
	event->rank = some_part(plan);
	event->delay_us = rng_below(&plan->rng, rng_chance(&plan->rng, 1, 8) ? 4000 : 300);
	return true;
}

static bool act_barrier(struct plan *plan, struct event *event)
{
	(void)plan;
	event->kind = EVENT_BARRIER;
	return true;
}

static bool act_register(struct plan *plan, struct event *event)
{
	int rank = some_part(plan), region = (int)rng_below(&plan->rng, REGION_FIXED);
	size_t size_bytes = plan->region[rank][region].size_bytes;
	struct plan_mem *mem = &plan->mem[rank][rng_below(&plan->rng, PLAN_MEMS_MAX)];
	struct range range = { rank, region, 0, 1 + rng_below(&plan->rng, (uint32_t)size_bytes / 3) };

	if (mem->live)
		return false;
	range.offset = rng_below(&plan->rng, (uint32_t)(size_bytes - range.size_bytes) + 1);
	mem->live = true;
	mem->range = range;
	event->kind = EVENT_REGISTER;
	event->rank = rank;
	event->mem = (int)(mem - plan->mem[rank]);
	return true;
}

static bool deregister(struct plan *plan, struct event *event, int rank, int at)
{
	struct plan_mem *mem = &plan->mem[rank][at];

	if (!mem->live || claims_origin_in_use(&plan->claims, &mem->range))
		return false;
	mem->live = false;
	event->kind = EVENT_DEREGISTER;
	event->rank = rank;
	event->mem = at;
	return true;
}

static bool act_deregister(struct plan *plan, struct event *event)
{
	int rank = some_part(plan);

	return deregister(plan, event, rank, (int)rng_below(&plan->rng, PLAN_MEMS_MAX));
}

/* Choosing. */

static bool try_action(struct plan *plan, struct event *event)
{
	uint32_t dice = rng_below(&plan->rng, 338);

	if (dice >= 332)
		return act_reattach(plan, event);
	if (dice >= 320)
		return act_signal_wait(plan, event);
	if (dice >= 300)
		return act_request(plan, event);
	if (dice >= 292)
		return rng_chance(&plan->rng, plan->locks, 8) && act_new_phase(plan, event);
	if (dice >= 256)
		return act_phase(plan, event);
	if (dice < 130)
		return act_round(plan, event);
	if (dice < 150)
		return act_new_round(plan, event);
	if (dice < 196)
		return rng_chance(&plan->rng, plan->fences, 8) && act_fence_op(plan, event);
	if (dice < 211)
		return rng_chance(&plan->rng, plan->fences, 8) && act_fence(plan, event);
	if (dice < 217)
		return act_fence_flush(plan, event);
	if (dice < 231)
		return act_create(plan, event);
	if (dice < 238)
		return act_free(plan, event);
	if (dice < 245)
		return act_store(plan, event);
	if (dice < 249)
		return act_delay(plan, event);
	if (dice < 252)
		return act_register(plan, event);
	if (dice < 255)
		return act_deregister(plan, event);
	return act_barrier(plan, event);
}

static void pick_event(struct plan *plan, struct event *event)
{
	for (int i = 0; i < ACTIONS_TRIED; i++) {
		if (try_action(plan, event))
			return;
	}
	act_delay(plan, event);
}

/* Closing everything: rounds first, then phases of locks, fences, windows, registered memory. */

static bool drain_rounds(struct plan *plan, struct event *event, bool *left)
{
	*left = false;
	for (int i = 0; i < PLAN_ROUNDS_MAX; i++) {
		struct plan_round *round = &plan->round[i];
		const struct plan_win *win = &plan->win[round->win];

		*left |= round->id != 0;
		for (int m = 0; round->id && m < win->count; m++) {
			if (plan_advance(plan, event, round, win->members[m]))
				return true;
		}
	}
	return false;
}

static bool drain_fences(struct plan *plan, struct event *event)
{
	for (int w = 0; w < PLAN_WINDOWS_MAX; w++) {
		if (plan->win[w].live && plan->win[w].fence_ops) {
			plan_fence_window(plan, event, w, rng_chance(&plan->rng, 1, 2) ? ORIEL_MODE_NOSUCCEED : 0);
			return true;
		}
		plan_leave_fence(plan, &plan->win[w]);
	}
	return false;
}

static bool drain_windows(struct plan *plan, struct event *event)
{
	for (int w = 0; w < PLAN_WINDOWS_MAX; w++) {
		if (plan->win[w].live && plan_free_window(plan, event, w))
			return true;
	}
	return false;
}

static bool drain_mems(struct plan *plan, struct event *event)
{
	for (int i = 0; i < plan->part_count * PLAN_MEMS_MAX; i++) {
		if (deregister(plan, event, plan->parts[i / PLAN_MEMS_MAX], i % PLAN_MEMS_MAX))
			return true;
	}
	return false;
}

static bool drain(struct plan *plan, struct event *event)
{
	bool left = true;

	/* A turn without an event can still end a round, and so set another free. */
	for (int turn = 0; left && turn < PLAN_ROUNDS_MAX; turn++) {
		if (drain_rounds(plan, event, &left))
			return true;
	}
	return plan_drain_phases(plan, event) || drain_fences(plan, event) || drain_windows(plan, event) ||
	       drain_mems(plan, event);
}

bool plan_next(struct plan *plan, struct event *event)
{
	memset(event, 0, sizeof(*event));
	event->rank = -1;
	event->step = plan->step;
	if (plan->step >= plan->steps)
		plan->draining = true;
	if (!plan->draining)
		pick_event(plan, event);
	else if (!drain(plan, event))
		return false;
	plan->step++;
	return true;
}

bool plan_over(const struct plan *plan)
{
	for (int i = 0; i < plan->part_count * PLAN_MEMS_MAX; i++) {
		if (plan->mem[plan->parts[i / PLAN_MEMS_MAX]][i % PLAN_MEMS_MAX].live)
			return false;
	}
	return plan_live_windows(plan) == 0;
}

bool event_names(const struct plan *plan, const struct event *event, int rank)
{
	const struct plan_win *win = event->kind == EVENT_FREE ? &event->freed : &plan->win[event->win];

	if (event->kind == EVENT_BARRIER || event->kind == EVENT_PHASE || event->kind == EVENT_PHASE_END)
		return true;
	if (event->rank >= 0)
		return event->rank == rank;
	for (int i = 0; i < win->count; i++) {
		if (win->members[i] == rank)
			return true;
	}
	return false;
}
