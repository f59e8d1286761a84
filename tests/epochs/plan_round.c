// SPDX-License-Identifier: BSD-2-Clause
/* plan_round.c - rounds of post, start, complete and wait; see plan.h. */
#include <string.h>

#include "oriel.h"
#include "plan_parts.h"

static uint64_t rank_bit(int rank)
{
	return UINT64_C(1) << rank;
}

/* Rounds. */

static int targets_of(struct plan *plan, const struct plan_win *win, uint32_t density, uint64_t *targets)
{
	int count = 0;

	*targets = 0;
	for (int i = 0; i < win->count; i++) {
		if (!rng_chance(&plan->rng, density, 8))
			continue;
		*targets |= rank_bit(win->members[i]);
		count++;
	}
	return count;
}

/* Some operations, rarely many. */
static int ops_of(struct rng *rng)
{
	switch (rng_below(rng, 12)) {
	case 0:
		return 0;
	case 1:
		return 10 + (int)rng_below(rng, 30);
	default:
		return 1 + (int)rng_below(rng, 7);
	}
}

/* One of the targets; with only_posted one that has posted, or -1. */
static int some_target(struct plan *plan, const struct plan_round *round, uint64_t targets, bool only_posted)
{
	int list[PLAN_RANKS_MAX], count = 0;

	for (int r = 0; r < PLAN_RANKS_MAX; r++) {
		if ((targets & rank_bit(r)) && (!only_posted || round->rank[r].exposure != SIDE_PENDING))
			list[count++] = r;
	}
	return count ? list[rng_below(&plan->rng, (uint32_t)count)] : -1;
}

static void make_ops(struct plan *plan, struct plan_round *round, int rank, uint64_t targets)
{
	round->rank[rank].burst = -1;
	round->rank[rank].ops = ops_of(&plan->rng);
	if (!rng_chance(&plan->rng, 1, 10))
		return;
	round->rank[rank].burst = some_target(plan, round, targets, false);
	round->rank[rank].burst_gets = rng_chance(&plan->rng, 1, 2);
	round->rank[rank].ops = 12 + (int)rng_below(&plan->rng, 20);
}

static void make_access(struct plan *plan, struct plan_round *round, const struct plan_win *win, int rank,
                        uint32_t density)
{
	uint64_t targets;

	if (targets_of(plan, win, density, &targets) > 0) {
		round->rank[rank].access = SIDE_PENDING;
		make_ops(plan, round, rank, targets);
	} else if (rng_chance(&plan->rng, 1, 4)) {
		round->rank[rank].access = SIDE_PENDING;
		round->rank[rank].discard = rng_chance(&plan->rng, 1, 3);
	}
	round->rank[rank].targets = targets;
	for (int i = 0; i < win->count; i++) {
		if (targets & rank_bit(win->members[i]))
			round->rank[win->members[i]].origins |= rank_bit(rank);
	}
}

static void make_exposure(struct plan *plan, struct plan_round *round, int rank)
{
	if (round->rank[rank].origins || rng_chance(&plan->rng, 1, 8))
		round->rank[rank].exposure = SIDE_PENDING;
	round->rank[rank].noput = rng_chance(&plan->rng, 1, 8);
}

static struct plan_round *new_round(struct plan *plan)
{
	int used = 0;

	for (int i = 0; i < PLAN_ROUNDS_MAX; i++)
		used += plan->round[i].id != 0;
	for (int i = 0; used < plan->want_rounds && i < PLAN_ROUNDS_MAX; i++) {
		if (!plan->round[i].id)
			return &plan->round[i];
	}
	return NULL;
}

static void make_round(struct plan *plan, int w)
{
	static const uint32_t densities[] = { 1, 2, 3, 4, 6, 8 };
	struct plan_round *round = new_round(plan);
	const struct plan_win *win = &plan->win[w];
	uint32_t density = densities[rng_below(&plan->rng, 6)];

	memset(round, 0, sizeof(*round));
	round->id = ++plan->round_id;
	round->win = w;
	round->nocheck = rng_chance(&plan->rng, 1, 8);
	for (int i = 0; i < win->count; i++)
		make_access(plan, round, win, win->members[i], density);
	for (int i = 0; i < win->count; i++)
		make_exposure(plan, round, win->members[i]);
}

bool plan_has_rounds(const struct plan *plan, int w)
{
	for (int i = 0; i < PLAN_ROUNDS_MAX; i++) {
		if (plan->round[i].id && plan->round[i].win == w)
			return true;
	}
	return false;
}

/*
 * Whether the rank has an epoch of this kind in an older round on the window that is not over: that
 * one comes first.
 */
static bool is_behind(const struct plan *plan, const struct plan_round *round, int rank, bool access)
{
	for (int i = 0; i < PLAN_ROUNDS_MAX; i++) {
		const struct plan_round *other = &plan->round[i];
		enum side_state state = access ? other->rank[rank].access : other->rank[rank].exposure;

		if (other->id && other->id < round->id && other->win == round->win &&
		    (state == SIDE_PENDING || state == SIDE_OPEN))
			return true;
	}
	return false;
}

static bool all_posted(const struct plan_round *round, uint64_t targets)
{
	for (int r = 0; r < PLAN_RANKS_MAX; r++) {
		if ((targets & rank_bit(r)) && round->rank[r].exposure == SIDE_PENDING)
			return false;
	}
	return true;
}

static bool all_completed(const struct plan_round *round, uint64_t origins)
{
	for (int r = 0; r < PLAN_RANKS_MAX; r++) {
		if ((origins & rank_bit(r)) && round->rank[r].access != SIDE_DONE)
			return false;
	}
	return true;
}

static void set_group(struct plan *plan, struct event *event, const struct plan_win *win, uint64_t ranks)
{
	for (int i = 0; i < win->count; i++) {
		if (ranks & rank_bit(win->members[i]))
			event->group[event->count++] = win->members[i];
	}
	plan_shuffle(&plan->rng, event->group, event->count);
}

static void round_event(struct event *event, const struct plan_round *round, int rank, enum event_kind kind)
{
	event->kind = kind;
	event->rank = rank;
	event->win = round->win;
	event->round = round->id;
}

static bool do_post(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	struct plan_win *win = &plan->win[round->win];
	struct plan_part *part = &win->part[rank];

	round_event(event, round, rank, EVENT_POST);
	set_group(plan, event, win, round->rank[rank].origins);
	if (round->nocheck && event->count > 0)
		event->assertions[rank] |= ORIEL_MODE_NOCHECK;
	if (round->rank[rank].noput)
		event->assertions[rank] |= ORIEL_MODE_NOPUT;
	if (!part->stored && rng_chance(&plan->rng, 1, 2))
		event->assertions[rank] |= ORIEL_MODE_NOSTORE;
	part->stored = false;
	round->rank[rank].exposure = SIDE_OPEN;
	part->posted_noput = round->rank[rank].noput;
	part->exposed = event->count > 0;
	if (event->count == 0 && round->rank[rank].discard)
		round->rank[rank].exposure = SIDE_DONE;
	return true;
}

static bool do_start(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	round_event(event, round, rank, EVENT_START);
	set_group(plan, event, &plan->win[round->win], round->rank[rank].targets);
	if (round->nocheck && event->count > 0)
		event->assertions[rank] = ORIEL_MODE_NOCHECK;
	round->rank[rank].access = SIDE_OPEN;
	if (event->count == 0 && round->rank[rank].discard)
		round->rank[rank].access = SIDE_DONE;
	else
		plan->win[round->win].part[rank].access = true;
	return true;
}

static bool do_op(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	int target = round->rank[rank].burst;
	bool burst = target >= 0, get;
	enum op_wish wish;

	if (!burst)
		target = some_target(plan, round, round->rank[rank].targets, false);
	get = round->rank[target].noput || (burst && round->rank[rank].burst_gets);
	wish = burst ? (get ? OP_BURST_GET : OP_BURST_PUT) : get ? OP_GET : OP_ANY;
	round->rank[rank].ops--;
	event->op = plan_make_op(plan, round->win, round->id, rank, target, wish);
	if (!event->op)
		return false;
	round_event(event, round, rank, EVENT_OP);
	return true;
}

static bool do_flush(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	int target = some_target(plan, round, round->rank[rank].targets, true);

	if (target < 0)
		return false;
	if (all_posted(round, round->rank[rank].targets) && rng_chance(&plan->rng, 1, 2))
		target = -1;
	plan_flush(plan, event, round->win, round->id, rank, target);
	return true;
}

static bool do_request(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	int target = some_target(plan, round, round->rank[rank].targets, false);

	return plan_request(plan, event, round->win, round->id, rank, target);
}

static bool do_complete(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	if (!all_posted(round, round->rank[rank].targets))
		return false;
	round_event(event, round, rank, EVENT_COMPLETE);
	round->rank[rank].access = SIDE_DONE;
	plan->win[round->win].part[rank].access = false;
	plan_end_origins(plan, event, rank, -1);
	plan_finish_ops(plan, event, rank, -1);
	plan_sweep(plan);
	plan_free_done(plan, event);
	return true;
}

static bool do_wait(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	struct plan_part *part = &plan->win[round->win].part[rank];

	if (!all_completed(round, round->rank[rank].origins)) {
		if (plan->draining || !rng_chance(&plan->rng, 1, 6))
			return false;
		round_event(event, round, rank, EVENT_TEST);
		return true;
	}
	round_event(event, round, rank, EVENT_WAIT);
	event->by_test = rng_chance(&plan->rng, 1, 3);
	round->rank[rank].exposure = SIDE_DONE;
	part->exposed = false;
	part->stored = false;
	plan_end_targets(plan, event, rank);
	plan_sweep(plan);
	return true;
}

static bool put_off(struct plan *plan, uint32_t of_8)
{
	return !plan->draining && rng_chance(&plan->rng, of_8, 8);
}

static bool advance_exposure(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	if (round->rank[rank].exposure == SIDE_PENDING)
		return !put_off(plan, plan->hold_post) && !is_behind(plan, round, rank, false) &&
		       do_post(plan, event, round, rank);
	if (round->rank[rank].exposure == SIDE_OPEN)
		return !put_off(plan, plan->hold_wait) && do_wait(plan, event, round, rank);
	return false;
}

/* NOCHECK: the posts have been made before the starts; everybody knows it by a barrier. */
static bool advance_nocheck(struct event *event, struct plan_round *round)
{
	if (!all_posted(round, UINT64_MAX))
		return false;
	round->barrier = true;
	event->kind = EVENT_BARRIER;
	return true;
}

static bool advance_access(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	if (round->rank[rank].access == SIDE_PENDING) {
		if (put_off(plan, plan->hold_start) || is_behind(plan, round, rank, true))
			return false;
		if (round->nocheck && !round->barrier)
			return advance_nocheck(event, round);
		return do_start(plan, event, round, rank);
	}
	if (round->rank[rank].access != SIDE_OPEN)
		return false;
	if (round->rank[rank].targets && !plan->draining) {
		if (rng_chance(&plan->rng, 1, 10))
			return do_flush(plan, event, round, rank);
		if (rng_chance(&plan->rng, 1, 8))
			return do_request(plan, event, round, rank);
		if (round->rank[rank].ops > 0)
			return do_op(plan, event, round, rank);
	}
	return do_complete(plan, event, round, rank);
}

static bool round_over(const struct plan_round *round)
{
	for (int r = 0; r < PLAN_RANKS_MAX; r++) {
		if (round->rank[r].access == SIDE_PENDING || round->rank[r].access == SIDE_OPEN ||
		    round->rank[r].exposure == SIDE_PENDING || round->rank[r].exposure == SIDE_OPEN)
			return false;
	}
	return true;
}

bool plan_advance(struct plan *plan, struct event *event, struct plan_round *round, int rank)
{
	bool access_first = rng_chance(&plan->rng, 1, 2), moved;

	moved = access_first ? advance_access(plan, event, round, rank) : advance_exposure(plan, event, round, rank);
	if (!moved)
		moved = access_first ? advance_exposure(plan, event, round, rank) : advance_access(plan, event, round, rank);
	if (round_over(round))
		round->id = 0;
	return moved;
}

static struct plan_round *some_round(struct plan *plan)
{
	uint32_t at = rng_below(&plan->rng, PLAN_ROUNDS_MAX);

	for (uint32_t i = 0; i < PLAN_ROUNDS_MAX; i++) {
		struct plan_round *round = &plan->round[(at + i) % PLAN_ROUNDS_MAX];

		if (round->id)
			return round;
	}
	return NULL;
}

bool act_round(struct plan *plan, struct event *event)
{
	struct plan_round *round = some_round(plan);
	const struct plan_win *win;

	if (!round)
		return false;
	win = &plan->win[round->win];
	return plan_advance(plan, event, round, win->members[rng_below(&plan->rng, (uint32_t)win->count)]);
}

/* A round has no event of its own: its first one comes when it comes. */
bool act_new_round(struct plan *plan, struct event *event)
{
	int w = plan_some_window(plan);

	(void)event;
	if (w < 0 || plan->win[w].fence_ops || plan->win[w].phase || !new_round(plan))
		return false;
	plan_leave_fence(plan, &plan->win[w]);
	make_round(plan, w);
	return false;
}
