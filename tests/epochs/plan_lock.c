// SPDX-License-Identifier: BSD-2-Clause
/*
 * plan_lock.c - phases of locks
 *
 * DESIGN NOTES
 *
 * Between two barriers of the job the members of a window access it by lock epochs only. As in a
 * fence epoch, no bytes are touched by two ranks in a phase; the barriers order all else.
 *
 * In a *free* phase no lock ever has to wait: any ranks lock a target shared, or always the same
 * rank locks it exclusively. Such locks stay open across everything else, several at a time.
 *
 * In a *contended* phase any rank locks any target either way, but only for a *section*, in which
 * the rank waits for no other, so that it releases the lock whatever the others do. Each member may
 * have a *block* in a contended phase: bytes that sections read and, with the exclusive lock,
 * change in two steps. It is whole in every section, and at the end of the phase it has been
 * changed as often as there were exclusive sections.
 */
#include <string.h>

#include "oriel.h"
#include "plan_parts.h"

#define CONTENDED_OF_8 4

static uint64_t rank_bit(int rank)
{
	return UINT64_C(1) << rank;
}

/* Blocks. */

void plan_block_fill(uint8_t block[PLAN_BLOCK_BYTES], uint64_t count)
{
	random_fill(block, PLAN_BLOCK_BYTES, count);
	memcpy(block, &count, sizeof(count));
}

bool plan_block_is_whole(const uint8_t block[PLAN_BLOCK_BYTES])
{
	uint8_t expected[PLAN_BLOCK_BYTES];
	uint64_t count;

	memcpy(&count, block, sizeof(count));
	plan_block_fill(expected, count);
	return memcmp(block, expected, sizeof(expected)) == 0;
}

static void make_block(struct plan *plan, int w, int rank)
{
	struct plan_part *part = &plan->win[w].part[rank];

	part->block = plan_place_own(plan, w, rank, part->unit, PLAN_BLOCK_BYTES);
	part->block_count = rng_below(&plan->rng, 1000);
}

/* Beginning and end. */

bool act_new_phase(struct plan *plan, struct event *event)
{
	int w = plan_some_window(plan);
	struct plan_win *win = &plan->win[w < 0 ? 0 : w];

	if (w < 0 || win->fence_ops || win->phase || plan_has_rounds(plan, w))
		return false;
	plan_leave_fence(plan, win);
	win->contended = rng_chance(&plan->rng, CONTENDED_OF_8, 8);
	win->phase_events = 4 + (int)rng_below(&plan->rng, 40);
	win->lock_all = win->lock_shared = 0;
	memset(win->locked, 0, sizeof(win->locked));
	memset(win->owner, 0, sizeof(win->owner));
	plan->atomics[w].count = plan->atomics[w].slots = 0;
	win->phase = ++plan->round_id; /* the blocks' first content is stored before */
	for (int i = 0; i < win->count; i++) {
		win->part[win->members[i]].block.size_bytes = 0;
		if (win->contended)
			make_block(plan, w, win->members[i]);
		plan_make_arena(plan, w, win->members[i]);
	}
	event->kind = EVENT_PHASE;
	event->win = w;
	event->round = win->phase;
	return true;
}

static bool end_phase(struct plan *plan, struct event *event, int w)
{
	struct plan_win *win = &plan->win[w];

	event->kind = EVENT_PHASE_END;
	event->win = w;
	event->round = win->phase;
	plan_end_origins(plan, event, -1, -1);
	plan_end_targets(plan, event, -1);
	plan_finish_ops(plan, event, -1, -1);
	win->phase = 0;
	plan_sweep(plan);
	plan_free_done(plan, event);
	for (int i = 0; i < win->count; i++)
		win->part[win->members[i]].stored = true;
	return true;
}

/* One rank's next call. */

static void lock_event(struct plan *plan, struct event *event, int w, int rank, enum event_kind kind)
{
	event->kind = kind;
	event->rank = rank;
	event->win = w;
	event->round = plan->win[w].phase;
	event->target = -1;
}

static bool lock_all(struct plan *plan, struct event *event, int w, int rank)
{
	struct plan_win *win = &plan->win[w];

	for (int i = 0; i < win->count; i++) {
		if (win->owner[win->members[i]])
			return false;
	}
	win->lock_all |= rank_bit(rank);
	win->lock_shared = UINT64_MAX;
	lock_event(plan, event, w, rank, EVENT_LOCK_ALL);
	event->assertions[rank] = rng_chance(&plan->rng, 1, 4) ? ORIEL_MODE_NOCHECK : 0;
	return true;
}

static bool lock_one(struct plan *plan, struct event *event, int w, int rank)
{
	struct plan_win *win = &plan->win[w];
	int target = win->members[rng_below(&plan->rng, (uint32_t)win->count)];
	bool own = win->owner[target] == rank + 1, exclusive = own || rng_chance(&plan->rng, 1, 2);

	if ((win->locked[rank] & rank_bit(target)) || (win->owner[target] && !own))
		return false;
	if (exclusive && (win->lock_shared & rank_bit(target)))
		return false;
	if (exclusive)
		win->owner[target] = (int8_t)(rank + 1);
	else
		win->lock_shared |= rank_bit(target);
	win->locked[rank] |= rank_bit(target);
	lock_event(plan, event, w, rank, EVENT_LOCK);
	event->target = target;
	event->exclusive = exclusive;
	event->assertions[rank] = rng_chance(&plan->rng, 1, 4) ? ORIEL_MODE_NOCHECK : 0;
	return true;
}

/* A rank that is locked by this one; there is one. */
static int some_locked(struct plan *plan, const struct plan_win *win, int rank)
{
	uint32_t at = rng_below(&plan->rng, (uint32_t)win->count);
	uint64_t locked = win->lock_all & rank_bit(rank) ? UINT64_MAX : win->locked[rank];

	while (!(locked & rank_bit(win->members[at])))
		at = (at + 1) % (uint32_t)win->count;
	return win->members[at];
}

static void unlock_one(struct plan *plan, struct event *event, int w, int rank, int target)
{
	lock_event(plan, event, w, rank, EVENT_UNLOCK);
	event->target = target;
	plan->win[w].locked[rank] &= ~rank_bit(target);
	plan_complete_both(plan, event, rank, target);
}

static void unlock_all(struct plan *plan, struct event *event, int w, int rank)
{
	lock_event(plan, event, w, rank, EVENT_UNLOCK_ALL);
	plan->win[w].lock_all &= ~rank_bit(rank);
	plan_complete_both(plan, event, rank, -1);
}

static void unlock(struct plan *plan, struct event *event, int w, int rank)
{
	if (plan->win[w].lock_all & rank_bit(rank))
		unlock_all(plan, event, w, rank);
	else
		unlock_one(plan, event, w, rank, some_locked(plan, &plan->win[w], rank));
}

static bool locked_op(struct plan *plan, struct event *event, int w, int rank)
{
	int target = some_locked(plan, &plan->win[w], rank);

	event->op = plan_make_op(plan, w, plan->win[w].phase, rank, target, OP_ANY);
	if (!event->op)
		return false;
	lock_event(plan, event, w, rank, EVENT_OP);
	return true;
}

static bool locked_atomics(struct plan *plan, struct event *event, int w, int rank)
{
	int target = some_locked(plan, &plan->win[w], rank);

	if (!plan_make_atomics(plan, event, w, rank, target))
		return false;
	lock_event(plan, event, w, rank, EVENT_ATOMICS);
	event->target = target;
	return true;
}

static bool advance_free(struct plan *plan, struct event *event, int w, int rank)
{
	struct plan_win *win = &plan->win[w];
	bool all = win->lock_all & rank_bit(rank);
	uint32_t dice = rng_below(&plan->rng, 22);
	int target;

	if (!all && !win->locked[rank])
		return dice < 5 ? lock_all(plan, event, w, rank) : lock_one(plan, event, w, rank);
	if (dice < 10)
		return locked_op(plan, event, w, rank);
	if (dice < 12) {
		target = rng_chance(&plan->rng, 1, 3) ? -1 : some_locked(plan, win, rank);
		plan_flush(plan, event, w, win->phase, rank, target);
		return true;
	}
	if (dice >= 18)
		return locked_atomics(plan, event, w, rank);
	if (dice >= 16)
		return plan_request(plan, event, w, win->phase, rank,
		                    all && rng_chance(&plan->rng, 1, 3) ? -1 : some_locked(plan, win, rank));
	if (dice < 14 && !all)
		return lock_one(plan, event, w, rank);
	unlock(plan, event, w, rank);
	return true;
}

/* A section: all in one event, so that nothing of this rank's can come between. */
static bool advance_contended(struct plan *plan, struct event *event, int w, int rank)
{
	struct plan_win *win = &plan->win[w];
	int target = win->members[rng_below(&plan->rng, (uint32_t)win->count)];
	int ops = (int)rng_below(&plan->rng, PLAN_SECTION_MAX + 1);

	lock_event(plan, event, w, rank, EVENT_SECTION);
	event->target = target;
	event->exclusive = rng_chance(&plan->rng, 5, 8);
	for (int i = 0; i < ops; i++) {
		struct plan_op *op = plan_make_op(plan, w, win->phase, rank, target, OP_ANY);

		if (op)
			event->section[event->section_count++] = op;
	}
	plan_make_atomics(plan, event, w, rank, target);
	win->part[target].block_count += event->exclusive;
	plan_complete_both(plan, event, rank, target);
	return true;
}

static bool all_unlocked(const struct plan_win *win)
{
	for (int i = 0; i < win->count; i++) {
		if (win->locked[win->members[i]])
			return false;
	}
	return win->lock_all == 0;
}

/* The one member after the other gives back what it has. */
static bool finish_phase(struct plan *plan, struct event *event, int w)
{
	struct plan_win *win = &plan->win[w];

	if (all_unlocked(win))
		return end_phase(plan, event, w);
	for (int i = 0; i < win->count; i++) {
		int rank = win->members[i];

		if (win->locked[rank] || (win->lock_all & rank_bit(rank))) {
			unlock(plan, event, w, rank);
			return true;
		}
	}
	return false;
}

bool act_phase(struct plan *plan, struct event *event)
{
	int w = plan_some_window(plan);
	struct plan_win *win = &plan->win[w < 0 ? 0 : w];
	int rank;

	if (w < 0 || !win->phase)
		return false;
	if (win->phase_events-- <= 0)
		return finish_phase(plan, event, w);
	rank = win->members[rng_below(&plan->rng, (uint32_t)win->count)];
	return win->contended ? advance_contended(plan, event, w, rank) : advance_free(plan, event, w, rank);
}

bool plan_drain_phases(struct plan *plan, struct event *event)
{
	for (int w = 0; w < PLAN_WINDOWS_MAX; w++) {
		if (plan->win[w].live && plan->win[w].phase)
			return finish_phase(plan, event, w);
	}
	return false;
}
