// SPDX-License-Identifier: BSD-2-Clause
/* run_win.c - windows: how they are made and freed, and where their parts lie */
#include "run.h"

#include <string.h>

#include "linger.h"

oriel_group *make_group(const struct run *run, int count, const int ranks[])
{
	oriel_group *group;

	must(run, oriel_group_incl(run->job->world, count, ranks, &group), "oriel_group_incl");
	return group;
}

bool is_member(const struct run *run, int w)
{
	const struct plan_win *win = &run->plan.win[w];

	for (int i = 0; i < win->count; i++) {
		if (win->members[i] == run->job->rank)
			return true;
	}
	return false;
}

int member(const struct run *run, int w, int rank)
{
	for (int i = 0; i < run->plan.win[w].count; i++) {
		if (run->plan.win[w].members[i] == rank)
			return i;
	}
	stop(run, "rank %d is no member", rank);
}

/* Checks where each part lies: the caller's at its base, the others' one after the other. */
static void check_shared(struct run *run, const struct plan_win *win, const void *base)
{
	uint8_t *next = NULL;

	for (int i = 0; i < win->count; i++) {
		const struct plan_part *part = &win->part[win->members[i]];
		size_t size_bytes, unit;
		void *at;

		must(run, oriel_win_shared_query(run->win[run->event.win], i, &at, &size_bytes, &unit),
		     "oriel_win_shared_query");
		if (size_bytes != part->range.size_bytes || unit != part->unit)
			stop(run, "oriel_win_shared_query of member %d gave %zu bytes, unit %zu", i, size_bytes, unit);
		if (win->members[i] == run->job->rank && at != base)
			stop(run, "oriel_win_shared_query gave %p for the own part at %p", at, base);
		if (!win->noncontig && next && size_bytes > 0 && at != next)
			stop(run, "the part of member %d lies at %p, not behind that before it at %p", i, at, (void *)next);
		next = size_bytes > 0 ? (uint8_t *)at + size_bytes : next;
	}
}

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
static const struct oriel_hint hints[] = { { "signals", TEXT_OF(PLAN_SIGNALS) }, { NULL, NULL } };
static const struct oriel_hint moved[] = { { "signals", TEXT_OF(PLAN_SIGNALS) },
	                                       { "share", "true" }, /* each time, not only where it is worth it */
	                                       { NULL, NULL } };

/* Memory of the library's own, shared if the plan says so and the ranks can. */
static void *make_allocated(struct run *run, const struct plan_win *win, oriel_group *group)
{
	static const struct oriel_hint noncontig[] = { { "alloc_shared_noncontig", "true" },
		                                           { "signals", TEXT_OF(PLAN_SIGNALS) },
		                                           { NULL, NULL } };
	const struct plan_part *part = &win->part[run->job->rank];
	oriel_win **to = &run->win[run->event.win];
	void *base = run;

	if (win->shared && run->job->can_share) {
		must(run,
		     oriel_win_allocate_shared(part->range.size_bytes, part->unit, win->noncontig ? noncontig : hints, group,
		                               &base, to),
		     "oriel_win_allocate_shared");
		check_shared(run, win, base);
		return part->range.size_bytes > 0 ? base : NULL;
	}
	must(run, oriel_win_allocate(part->range.size_bytes, part->unit, hints, group, &base, to), "oriel_win_allocate");
	return base;
}

static void allocate(struct run *run, const struct plan_win *win, oriel_group *group)
{
	const struct plan_part *part = &win->part[run->job->rank];
	const struct plan_region *region;
	struct memory *memory;
	void *base = make_allocated(run, win, group);

	if ((part->range.size_bytes == 0) != !base)
		stop(run, "oriel_win_allocate of %zu bytes gave base %p", part->range.size_bytes, base);
	if (!base)
		return;
	region = &run->plan.region[run->job->rank][part->range.region];
	memory = &run->memory[part->range.region];
	*memory = (struct memory){ .serial = region->serial, .kind = region->kind, .base = base };
	run->bytes[part->range.region] = base;
}

/* Dynamic windows: a part is attached in two pieces that touch, where it has room for these. */

static size_t first_piece(const struct plan_part *part)
{
	return part->range.size_bytes > 1 ? part->range.size_bytes / 2 : part->range.size_bytes;
}

static void attach(struct run *run)
{
	const struct plan_part *part = &run->plan.win[run->event.win].part[run->job->rank];
	size_t first = first_piece(part), rest = part->range.size_bytes - first;
	oriel_win *win = run->win[run->event.win];
	uint8_t *base;

	if (first == 0)
		return;
	base = run->bytes[part->range.region] + part->range.offset;
	if (rest > 0)
		must(run, oriel_win_attach(win, base + first, rest), "oriel_win_attach");
	must(run, oriel_win_attach(win, base, first), "oriel_win_attach");
}

/* Detaches regions that the plan has already forgotten; the memory still exists. */
static void detach(struct run *run)
{
	const struct plan_part *part = &run->event.freed.part[run->job->rank];
	size_t first = first_piece(part);
	oriel_win *win = run->win[run->event.win];
	uint8_t *base;

	if (first == 0)
		return;
	base = run->bytes[part->range.region] + part->range.offset;
	linger();
	must(run, oriel_win_detach(win, base), "oriel_win_detach");
	if (part->range.size_bytes > first)
		must(run, oriel_win_detach(win, base + first), "oriel_win_detach");
}

static size_t address_place(int w, int rank)
{
	return BOARD_SEEN_BYTES + sizeof(uint64_t) * ((size_t)w * PLAN_RANKS_MAX + (size_t)rank);
}

/* Tell all members where the part lies, and hear it from them. */
static void tell_address(struct run *run)
{
	const struct plan_win *win = &run->plan.win[run->event.win];
	const struct plan_part *part = &win->part[run->job->rank];
	size_t at = address_place(run->event.win, run->job->rank);
	uint64_t address = 0;

	if (part->range.size_bytes > 0)
		address = (uint64_t)(uintptr_t)(run->bytes[part->range.region] + part->range.offset);
	for (int i = 0; i < win->count; i++)
		must(run, oriel_put(run->job->board, &address, sizeof(address), win->members[i], at), "oriel_put");
	must(run, oriel_win_flush(run->job->board, ORIEL_RANK_ALL), "oriel_win_flush");
	must(run, oriel_win_fence(run->win[run->event.win], ORIEL_MODE_NOSUCCEED), "oriel_win_fence");
	must(run, oriel_win_sync(run->job->board), "oriel_win_sync");
}

void run_reattach(struct run *run)
{
	detach(run);
	update_memory(run);
	attach(run);
	tell_address(run);
	run->closed[run->event.win] = false;
}

static void create_dynamic(struct run *run, oriel_group *group)
{
	must(run, oriel_win_create_dynamic(moves_memory() ? moved : hints, group, &run->win[run->event.win]),
	     "oriel_win_create_dynamic");
	attach(run);
	tell_address(run);
}

void run_create(struct run *run)
{
	const struct plan_win *win = &run->plan.win[run->event.win];
	const struct plan_part *part = &win->part[run->job->rank];
	oriel_group *group = make_group(run, win->count, win->members);
	uint8_t *base = NULL;

	update_memory(run);
	if (win->allocated) {
		allocate(run, win, group);
	} else if (win->dynamic) {
		create_dynamic(run, group);
	} else {
		if (part->range.size_bytes > 0)
			base = run->bytes[part->range.region] + part->range.offset;
		must(run,
		     oriel_win_create(base, part->range.size_bytes, part->unit, moves_memory() ? moved : hints, group,
		                      &run->win[run->event.win]),
		     "oriel_win_create");
	}
	must(run, oriel_group_free(&group), "oriel_group_free");
	run->closed[run->event.win] = false;
	memset(run->taken[run->event.win], 0, sizeof(run->taken[0]));
}

void run_free(struct run *run)
{
	int w = run->event.win;

	/* Memory of the library's own ends with the call: look at it before. */
	if (run->event.freed.allocated && run->event.freed.part[run->job->rank].range.size_bytes > 0 &&
	    run->memory[run->event.freed.part[run->job->rank].range.region].kind != REGION_ALLOCATED)
		stop(run, "the plan has lost an allocated region");
	check_signals(run);
	linger();
	must(run, oriel_win_free(&run->win[w]), "oriel_win_free");
	if (run->win[w])
		stop(run, "oriel_win_free has left the handle");
	update_memory(run);
}

size_t base_disp(const struct run *run, int w, int target)
{
	uint64_t address = 0;

	if (run->plan.win[w].dynamic)
		memcpy(&address, run->job->board_bytes + address_place(w, target), sizeof(address));
	return address;
}
