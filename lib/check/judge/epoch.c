// SPDX-License-Identifier: BSD-2-Clause
/* See view.h. */
#include "check/judge/misuse.h"

/* ---- locks ---- */

static void take_lock(struct view *view, const struct trace_event *event)
{
	uint64_t target = (uint64_t)event->rank;

	rules_of_lock(view, event);
	add_partner(&view->locks, event->flags & LOCK_EXCLUSIVE, event);
	view->window->unchecked_locks += (event->flags & LOCK_NOCHECK) != 0;
	slot_acquire(window_slot(SLOT_EXCLUSIVE, view, target), view->rank);
	if (!(event->flags & LOCK_EXCLUSIVE))
		return;
	slot_acquire(window_slot(SLOT_SHARED, view, target), view->rank);
	slot_acquire(window_slot(SLOT_SHARED, view, EVERY), view->rank);
}

/* The next holder is granted the lock before this call returns. */
static void take_unlock(struct view *view, const struct trace_event *event)
{
	const struct partner *lock = find_partner(&view->locks, event->rank);
	bool is_exclusive = lock && lock->number, is_unchecked = lock && lock->flags & LOCK_NOCHECK;
	struct choice choice = all_targets;

	choice.target = event->rank;
	end_operations(view, &choice, event->site);
	slot_release(window_slot(is_exclusive ? SLOT_EXCLUSIVE : SLOT_SHARED, view, (uint64_t)event->rank), view->rank);
	if (is_exclusive)
		slot_release(window_slot(SLOT_EXCLUSIVE, view, EVERY), view->rank);
	view->window->unchecked_locks -= is_unchecked;
	drop_partner(&view->locks, event->rank);
}

static void take_lock_all(struct view *view, const struct trace_event *event)
{
	rules_of_lock(view, event);
	view->is_locked_all = true;
	view->locked_all = (struct partner){ -1, 0, event->site, event->flags };
	view->window->unchecked_locks += (event->flags & LOCK_NOCHECK) != 0;
	slot_acquire(window_slot(SLOT_EXCLUSIVE, view, EVERY), view->rank);
}

static void take_unlock_all(struct view *view, const struct trace_event *event)
{
	end_operations(view, &all_targets, event->site);
	slot_release(window_slot(SLOT_SHARED, view, EVERY), view->rank);
	view->is_locked_all = false;
	view->window->unchecked_locks -= (view->locked_all.flags & LOCK_NOCHECK) != 0;
}

/* ---- start, post, complete, wait ---- */

static struct slot_name pair_slot(enum slot_kind kind, const struct view *view, int first, int second, uint64_t number)
{
	return (struct slot_name){
		.kind = kind, .object = view->key, .a = (uint64_t)first, .b = (uint64_t)second, .c = number
	};
}

static void begin_group(struct partners *group)
{
	if (group->count > 0) {
		group->replaced = group->list[0];
		group->replaced.flags = 1;
	}
	group->count = 0;
}

/* Takes one rank of the group; the first one begins it. */
static uint64_t take_partner(struct partners *group, struct partners *counts, const struct trace_event *event)
{
	uint64_t number;

	if (event->rank < 0 || event->id == 0)
		begin_group(group);
	if (event->rank < 0)
		return 0;
	number = count_partner(counts, event->rank);
	add_partner(group, number, event);
	return number;
}

static void take_post(struct view *view, const struct trace_event *event)
{
	uint64_t number = take_partner(&view->posted, &view->posts, event);

	if (number == 0)
		return;
	rules_of_post(view, number, event);
	slot_release(pair_slot(SLOT_POST, view, view->rank, event->rank, number), view->rank);
}

static void take_complete(const struct view *view)
{
	for (uint32_t i = 0; i < view->started.count; i++) {
		const struct partner *target = &view->started.list[i];

		slot_release(pair_slot(SLOT_COMPLETE, view, view->rank, target->rank, target->number), view->rank);
	}
}

static void take_complete_end(struct view *view, const struct trace_event *event)
{
	struct choice choice = all_targets;

	for (uint32_t i = 0; i < view->started.count; i++) {
		const struct partner *target = &view->started.list[i];

		slot_acquire(pair_slot(SLOT_POST, view, target->rank, view->rank, target->number), view->rank);
	}
	choice.is_local = true;
	choice.in_started = true;
	complete(view, choice, event->site);
	for (uint32_t i = 0; i < view->started.count; i++) {
		const struct partner *target = &view->started.list[i];

		slot_remove(pair_slot(SLOT_POST, view, target->rank, view->rank, target->number));
	}
	view->started.count = 0;
	view->closed_at = event->site;
}

/* The origin has called complete. Its accesses are over for what knows of this moment. */
static void end_epoch(const struct view *view, const struct partner *partner, struct end end)
{
	const struct view *origin = view_of(view->key, partner->rank);

	for (uint32_t i = 0; origin && i < origin->count; i++) {
		struct operation *operation = origin->pending[i];

		if (operation->gate != GATE_POST || operation->target != view->rank || operation->number != partner->number)
			continue;
		access_end(operation->at, end);
		operation->is_waited = true;
		operation->is_over |= operation->is_local != 0;
	}
}

static void take_wait_end(struct view *view, const struct trace_event *event)
{
	struct end end;

	for (uint32_t i = 0; i < view->posted.count; i++) {
		const struct partner *origin = &view->posted.list[i];

		slot_acquire(pair_slot(SLOT_COMPLETE, view, origin->rank, view->rank, origin->number), view->rank);
		slot_remove(pair_slot(SLOT_COMPLETE, view, origin->rank, view->rank, origin->number));
	}
	end = end_now(view->rank, event->site);
	for (uint32_t i = 0; i < view->posted.count; i++)
		end_epoch(view, &view->posted.list[i], end);
	view->posted.count = 0;
	view->closed_at = event->site;
}

/* ---- fences ---- */

static struct slot_name fence_slot(const struct view *view, uint64_t number)
{
	return (struct slot_name){ .kind = SLOT_FENCE_OF, .object = view->key, .a = number, .b = (uint64_t)view->rank };
}

static void take_fence(struct view *view, const struct trace_event *event)
{
	rules_of_fence(view, event);
	view->fence_before = view->fence;
	view->fence = (struct fence){ event->id, view->rank, event->site, event->flags };
	if (!(event->flags & FENCE_NOPRECEDE))
		end_operations(view, &all_targets, event->site);
	slot_release(fence_slot(view, event->id), view->rank);
	slot_release(window_slot(SLOT_FENCE, view, event->id), view->rank);
}

/* All have left the fence before this one, and use that before it no more. */
static void forget_fences(const struct view *view, uint64_t number)
{
	slot_remove(window_slot(SLOT_FENCE, view, number - 1));
	slot_remove(fence_slot(view, number - 2));
}

static void take_fence_end(struct view *view, const struct trace_event *event)
{
	if (!(event->flags & FENCE_NOPRECEDE)) {
		slot_acquire(window_slot(SLOT_FENCE, view, event->id), view->rank);
		forget_fences(view, event->id);
	}
	settle_operations(view, false);
	view->closed_at = event->site;
	view->fences = event->id;
	view->is_fenced = !(event->flags & FENCE_NOSUCCEED);
	view->holds_effects_back = event->flags & FENCE_NOPRECEDE;
}

/* ---- events ---- */

void take_epoch(struct view *view, const struct trace_event *event)
{
	switch (event->kind) {
	case TRACE_LOCK:
		take_lock(view, event);
		break;
	case TRACE_UNLOCK:
		take_unlock(view, event);
		break;
	case TRACE_LOCK_ALL:
		take_lock_all(view, event);
		break;
	case TRACE_UNLOCK_ALL:
		take_unlock_all(view, event);
		break;
	case TRACE_UNLOCK_END:
		view->closed_at = event->site;
		settle_operations(view, false);
		break;
	case TRACE_POST:
		take_post(view, event);
		break;
	case TRACE_START:
		take_partner(&view->started, &view->starts, event);
		break;
	case TRACE_COMPLETE:
		take_complete(view);
		break;
	case TRACE_COMPLETE_END:
		take_complete_end(view, event);
		break;
	case TRACE_WAIT_END:
		take_wait_end(view, event);
		break;
	case TRACE_FENCE:
		take_fence(view, event);
		break;
	case TRACE_FENCE_END:
		take_fence_end(view, event);
		break;
	default:
		break;
	}
}
