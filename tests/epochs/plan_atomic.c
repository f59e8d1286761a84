// SPDX-License-Identifier: BSD-2-Clause
/*
 * plan_atomic.c - accumulates of several origins to the same elements
 *
 * DESIGN NOTES
 *
 * In a phase of locks a member may have an *arena*: some elements that everybody may change, by the
 * accumulate family only. What they hold is then not for the model to say. After the phase their owner
 * checks that some order of the operations explains what was seen (serial.h), and stores new content,
 * which the model knows.
 *
 * In an arena of *totals* all operations are of one kind whose order does not matter, and need no
 * results; otherwise all have one.
 */
#include <string.h>

#include "plan_parts.h"

#define BURST_MAX 8

static void choose_type(struct plan *plan, struct plan_arena *arena)
{
	struct rng *rng = &plan->rng;

	arena->type = elements_some_type(rng);
	arena->total = elements_are_padded(arena->type) || rng_chance(rng, 1, 4);
	arena->combine = elements_some_shared_op(rng, arena->type);
	arena->seed = rng_next(rng);
	arena->count = rng_chance(rng, 1, 2) ? 1 : 1 + (int)rng_below(rng, PLAN_ARENA_MAX);
}

void plan_make_arena(struct plan *plan, int w, int rank)
{
	const struct plan_part *part = &plan->win[w].part[rank];
	struct plan_arena *arena = &plan->win[w].arena[rank];
	size_t each, step;

	arena->count = 0;
	if (!rng_chance(&plan->rng, plan->accumulates, 12))
		return;
	choose_type(plan, arena);
	each = elements_bytes(arena->type);
	if (each % part->unit != 0) /* others could not be reached */
		arena->count = 1;
	step = rng_chance(&plan->rng, 1, 2) && each % part->unit == 0 ? each : part->unit;
	arena->range = plan_place_own(plan, w, rank, step, (size_t)arena->count * each);
	if (arena->range.size_bytes == 0)
		arena->count = 0;
}

static void choose_family(struct plan *plan, struct plan_atomic *atomic, const struct plan_arena *arena)
{
	struct rng *rng = &plan->rng;
	bool whole = elements_are_whole(arena->type);

	atomic->family = (enum plan_family)(FAMILY_GET_ACCUMULATE + (int)rng_below(rng, whole && !arena->total ? 3 : 2));
	atomic->combine = arena->combine;
	if (!arena->total)
		atomic->combine = rng_chance(rng, 1, 6) ? ORIEL_REPLACE : elements_some_shared_op(rng, arena->type);
	else if (elements_are_padded(arena->type) || rng_chance(rng, 1, 2))
		atomic->family = FAMILY_ACCUMULATE;
	if (atomic->family == FAMILY_COMPARE_AND_SWAP)
		atomic->combine = ORIEL_REPLACE;
	else if (atomic->family != FAMILY_ACCUMULATE && rng_chance(rng, 1, 10))
		atomic->combine = ORIEL_NO_OP;
	atomic->looks = rng_chance(rng, 3, 4);
	atomic->vector = atomic->family <= FAMILY_GET_ACCUMULATE && rng_chance(rng, 1, 4);
}

static bool make_atomic(struct plan *plan, int w, int origin, int target)
{
	const struct plan_arena *arena = &plan->win[w].arena[target];
	struct plan_atomics *atomics = &plan->atomics[w];
	struct plan_atomic *atomic = &atomics->list[atomics->count];

	if (atomics->count == PLAN_ATOMICS_MAX || atomics->slots + PLAN_ARENA_MAX > PLAN_SLOTS_MAX)
		return false;
	*atomic = (struct plan_atomic){ .origin = origin, .target = target, .slot = atomics->slots, .count = 1 };
	choose_family(plan, atomic, arena);
	if (atomic->family <= FAMILY_GET_ACCUMULATE)
		atomic->count = 1 + (int)rng_below(&plan->rng, (uint32_t)arena->count);
	atomic->first = (int)rng_below(&plan->rng, (uint32_t)(arena->count - atomic->count) + 1);
	atomic->seed = rng_next(&plan->rng);
	atomics->slots += atomic->count;
	atomics->count++;
	return true;
}

bool plan_make_atomics(struct plan *plan, struct event *event, int w, int origin, int target)
{
	int wanted = 1 + (int)rng_below(&plan->rng, BURST_MAX);

	if (plan->win[w].arena[target].count == 0)
		return false;
	event->atomic_first = plan->atomics[w].count;
	while (event->atomic_count < wanted && make_atomic(plan, w, origin, target))
		event->atomic_count++;
	return event->atomic_count > 0;
}
