// SPDX-License-Identifier: BSD-2-Clause
/* plan_win.c - windows and fences. */
#include <assert.h>
#include <string.h>

#include "oriel.h"
#include "plan_parts.h"

#define PART_BYTES_MAX (120u << 10)

static_assert(PART_BYTES_MAX <= REGION_HEAP_BYTES, "the largest window fits the first region");

/* Windows. */

int plan_some_window(struct plan *plan)
{
	int w = (int)rng_below(&plan->rng, PLAN_WINDOWS_MAX);

	for (int i = 0; i < PLAN_WINDOWS_MAX; i++, w = (w + 1) % PLAN_WINDOWS_MAX) {
		if (plan->win[w].live)
			return w;
	}
	return -1;
}

int plan_live_windows(const struct plan *plan)
{
	int count = 0;

	for (int w = 0; w < PLAN_WINDOWS_MAX; w++)
		count += plan->win[w].live;
	return count;
}

static size_t part_size(struct rng *rng)
{
	switch (rng_below(rng, 16)) {
	case 0:
		return 0;
	case 1:
		return 1 + rng_below(rng, 64);
	case 2:
		return (60u << 10) + rng_below(rng, PART_BYTES_MAX - (60u << 10));
	case 3:
		return 4096 * (size_t)(1 + rng_below(rng, 4));
	case 4:
	case 5:
	case 6:
		return 1 + rng_below(rng, 3000);
	default:
		return 1 + rng_below(rng, 24000);
	}
}

static size_t part_unit(struct rng *rng)
{
	static const size_t units[] = { 1, 1, 1, 2, 3, 4, 8, 8, 24, 64, 100, 1000 };

	return units[rng_below(rng, sizeof(units) / sizeof(units[0]))];
}

static int free_region(const struct plan *plan, int rank)
{
	for (int i = REGION_FIXED; i < PLAN_REGIONS_MAX; i++) {
		if (plan->region[rank][i].kind == REGION_NONE)
			return i;
	}
	return -1;
}

static int make_region(struct plan *plan, int rank, size_t size_bytes, bool allocated)
{
	int at = free_region(plan, rank);
	struct plan_region *region = &plan->region[rank][at];

	*region = (struct plan_region){ .serial = ++plan->serial, .size_bytes = size_bytes };
	region->kind = (enum region_kind)(REGION_MALLOC + rng_below(&plan->rng, 3));
	if (allocated)
		region->kind = REGION_ALLOCATED;
	else
		region->shift = rng_chance(&plan->rng, 2, 3) ? rng_below(&plan->rng, 70) : 0;
	return at;
}

/*
 * Memory that is there already: a fixed region, or one of another window (W5). The first holds any
 * window.
 */
static int old_region(struct plan *plan, int rank, size_t size_bytes)
{
	int region = (int)rng_below(&plan->rng, PLAN_REGIONS_MAX);

	return plan->region[rank][region].size_bytes >= size_bytes ? region : 0;
}

/* A part of size 0 has region -1: nothing overlaps it. */
static void make_part(struct plan *plan, struct plan_win *win, int rank)
{
	struct plan_part *part = &win->part[rank];
	struct plan_region *region;

	memset(part, 0, sizeof(*part));
	part->unit = win->dynamic ? 1 : part_unit(&plan->rng);
	part->range = (struct range){ rank, -1, 0, part_size(&plan->rng) };
	if (part->range.size_bytes == 0)
		return;
	if (!win->allocated && rng_chance(&plan->rng, 1, 2))
		part->range.region = old_region(plan, rank, part->range.size_bytes);
	else
		part->range.region = make_region(plan, rank, part->range.size_bytes, win->allocated);
	region = &plan->region[rank][part->range.region];
	region->windows++;
	part->range.offset = rng_below(&plan->rng, (uint32_t)(region->size_bytes - part->range.size_bytes) + 1);
	part->stored = true;
}

bool act_create(struct plan *plan, struct event *event)
{
	int w = 0, list[PLAN_RANKS_MAX], largest = plan->part_count;
	struct plan_win *win;

	while (w < PLAN_WINDOWS_MAX && plan->win[w].live)
		w++;
	if (w == PLAN_WINDOWS_MAX || plan_live_windows(plan) >= plan->want_windows)
		return false;
	win = &plan->win[w];
	memset(win, 0, sizeof(*win));
	win->live = true;
	win->serial = ++plan->serial;
	win->allocated = rng_chance(&plan->rng, 1, 2);
	win->shared = win->allocated && rng_chance(&plan->rng, 1, 2);
	win->dynamic = !win->allocated && rng_chance(&plan->rng, 1, 3);
	win->noncontig = rng_chance(&plan->rng, 1, 3);
	memcpy(list, plan->parts, sizeof(list));
	plan_shuffle(&plan->rng, list, largest);
	win->count = rng_chance(&plan->rng, 1, 2) ? largest : 1 + (int)rng_below(&plan->rng, (uint32_t)largest);
	memcpy(win->members, list, sizeof(list));
	for (int i = 0; i < win->count; i++)
		make_part(plan, win, win->members[i]);
	event->kind = EVENT_CREATE;
	event->win = w;
	return true;
}

/* Whether memory that ends with the window is still an origin of something, or in another window. */
static bool part_needed(const struct plan *plan, const struct plan_part *part, bool allocated)
{
	const struct plan_region *region;
	struct range whole = part->range;

	if (part->range.region < REGION_FIXED)
		return false;
	region = &plan->region[whole.rank][whole.region];
	if (region->windows > 1)
		return allocated;
	whole.offset = 0;
	whole.size_bytes = region->size_bytes;
	for (int i = 0; i < plan->claims.count; i++) {
		if (range_overlaps(&plan->claims.list[i].range, &whole))
			return true;
	}
	return false;
}

static bool window_may_go(const struct plan *plan, int w)
{
	const struct plan_win *win = &plan->win[w];

	if (!win->live || plan_has_rounds(plan, w) || win->fence_ops || win->phase)
		return false;
	for (int i = 0; i < win->count; i++) {
		if (part_needed(plan, &win->part[win->members[i]], win->allocated))
			return false;
	}
	return true;
}

/* A fence epoch without operations ends without a call. */
void plan_leave_fence(struct plan *plan, struct plan_win *win)
{
	win->fence_open = false;
	plan_sweep(plan);
}

/* The part's memory is not the window's any more; it goes where nothing else needs it. */
static void release_part(struct plan *plan, const struct plan_part *part)
{
	const struct range *range = &part->range;

	if (range->region >= 0 && --plan->region[range->rank][range->region].windows == 0 && range->region >= REGION_FIXED)
		plan->region[range->rank][range->region] = (struct plan_region){ .kind = REGION_NONE };
}

bool plan_free_window(struct plan *plan, struct event *event, int w)
{
	struct plan_win *win = &plan->win[w];

	plan_leave_fence(plan, win);
	if (!window_may_go(plan, w))
		return false;
	event->kind = EVENT_FREE;
	event->win = w;
	event->freed = *win;
	win->live = false;
	plan_drop_requests(plan, w);
	for (int i = 0; i < win->count; i++)
		release_part(plan, &win->part[win->members[i]]);
	plan_sweep(plan);
	return true;
}

bool act_free(struct plan *plan, struct event *event)
{
	int w = plan_some_window(plan);

	return w >= 0 && !plan->win[w].fence_ops && !plan->win[w].phase && !plan_has_rounds(plan, w) &&
	       plan_free_window(plan, event, w);
}

/* Some members' parts lie elsewhere from now on. Signals are the window's, and stay. */
static void move_part(struct plan *plan, struct plan_win *win, int rank)
{
	struct plan_part *part = &win->part[rank], before = *part;

	if (part_needed(plan, part, false) || rng_chance(&plan->rng, 1, 2))
		return;
	release_part(plan, part);
	make_part(plan, win, rank);
	memcpy(part->signal_set, before.signal_set, sizeof(before.signal_set));
	memcpy(part->signal_added, before.signal_added, sizeof(before.signal_added));
	memcpy(part->signal_last, before.signal_last, sizeof(before.signal_last));
}

bool act_reattach(struct plan *plan, struct event *event)
{
	int w = plan_some_window(plan);
	struct plan_win *win = &plan->win[w < 0 ? 0 : w];

	if (w < 0 || !win->dynamic || win->fence_ops || win->phase || plan_has_rounds(plan, w))
		return false;
	plan_leave_fence(plan, win);
	event->kind = EVENT_REATTACH;
	event->win = w;
	event->freed = *win;
	for (int i = 0; i < win->count; i++)
		move_part(plan, win, win->members[i]);
	plan_sweep(plan);
	return true;
}

/* Fences. */

/* Chooses where no rank writes until the next fence, so that the member can check at once. */
static int keep_quiet(struct plan *plan, struct plan_part *part, bool no_succeed)
{
	size_t size_bytes = part->range.size_bytes, half = size_bytes / 2;

	part->keep_from = 0;
	part->keep_to = 0;
	switch (rng_below(&plan->rng, 4)) {
	case 0:
		part->keep_to = half;
		break;
	case 1:
		part->keep_from = half;
		part->keep_to = size_bytes;
		break;
	case 2:
		part->keep_to = size_bytes;
		return rng_chance(&plan->rng, 1, 2) ? ORIEL_MODE_NOPUT : 0;
	}
	return no_succeed && rng_chance(&plan->rng, 1, 2) ? ORIEL_MODE_NOPUT : 0;
}

static void fence_member(struct plan *plan, struct event *event, struct plan_win *win, int rank, int common)
{
	struct plan_part *part = &win->part[rank];

	event->assertions[rank] = common | keep_quiet(plan, part, common & ORIEL_MODE_NOSUCCEED);
	if (!part->stored && rng_chance(&plan->rng, 1, 2))
		event->assertions[rank] |= ORIEL_MODE_NOSTORE;
	part->stored = false;
}

void plan_fence_window(struct plan *plan, struct event *event, int w, int common)
{
	struct plan_win *win = &plan->win[w];

	event->kind = EVENT_FENCE;
	event->win = w;
	event->round = 0;
	for (int i = 0; i < win->count; i++)
		fence_member(plan, event, win, win->members[i], common);
	plan_end_origins(plan, event, -1, -1);
	plan_end_targets(plan, event, -1);
	plan_finish_ops(plan, event, -1, -1);
	win->fence_open = false;
	plan_sweep(plan);
	win->fence_open = !(common & ORIEL_MODE_NOSUCCEED);
	win->fence_ops = false;
	win->fences++;
	plan_free_done(plan, event);
}

bool act_fence(struct plan *plan, struct event *event)
{
	int w = plan_some_window(plan), common = 0;

	if (w < 0 || plan->win[w].phase || plan_has_rounds(plan, w))
		return false;
	if (!plan->win[w].fence_ops && rng_chance(&plan->rng, 1, 2))
		common |= ORIEL_MODE_NOPRECEDE;
	if (rng_chance(&plan->rng, 1, 4))
		common |= ORIEL_MODE_NOSUCCEED;
	plan_fence_window(plan, event, w, common);
	return true;
}

/*
 * A window with an open fence epoch and two of its members, perhaps the same; -1 if the window
 * drawn has none.
 */
static int some_fence_pair(struct plan *plan, int *origin, int *target)
{
	int w = plan_some_window(plan);
	const struct plan_win *win = &plan->win[w < 0 ? 0 : w];

	if (w < 0 || !win->fence_open)
		return -1;
	*origin = win->members[rng_below(&plan->rng, (uint32_t)win->count)];
	*target = win->members[rng_below(&plan->rng, (uint32_t)win->count)];
	return w;
}

bool act_fence_op(struct plan *plan, struct event *event)
{
	int origin, target, w = some_fence_pair(plan, &origin, &target);

	if (w < 0)
		return false;
	event->op = plan_make_op(plan, w, 0, origin, target, OP_ANY);
	if (!event->op)
		return false;
	plan->win[w].fence_ops = true;
	event->kind = EVENT_OP;
	event->rank = origin;
	event->win = w;
	return true;
}

bool act_fence_flush(struct plan *plan, struct event *event)
{
	int origin, target, w = some_fence_pair(plan, &origin, &target);

	if (w < 0)
		return false;
	if (rng_chance(&plan->rng, 1, 2))
		return plan_request(plan, event, w, 0, origin, target);
	plan_flush(plan, event, w, 0, origin, rng_chance(&plan->rng, 1, 3) ? -1 : target);
	return true;
}
