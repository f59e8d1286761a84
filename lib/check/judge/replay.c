// SPDX-License-Identifier: BSD-2-Clause
/* replay.c - takes the events of all ranks; see view.h */
#include <stdlib.h>

#include "check/judge/local.h"
#include "check/judge/misuse.h"

#define FORGET_AT 65536      /* accesses; afterwards at twice what was left */
#define ACCESSES_MAX 4000000 /* that are kept */

struct replaying replaying;
static uint64_t forget_at = FORGET_AT;

/* ---- strands ---- */

static void make_strands(int rank)
{
	replaying.ranks[rank].left = calloc(TRACE_STRANDS, sizeof(uint64_t));
	if (!replaying.ranks[rank].left)
		program_fail("out of memory");
}

static void act(int rank, uint16_t strand)
{
	replaying.strand = strand;
	clock_act(rank, strand);
}

static void learn_of_all(int rank)
{
	struct clock *all = clock_of_all(rank);

	clock_join(rank, all);
	clock_drop(all);
}

static void learn_of(int rank, uint16_t strand)
{
	struct clock *clock;

	clock_act(rank, strand);
	clock = clock_keep(rank);
	clock_act(rank, replaying.strand);
	clock_join(rank, clock);
	clock_drop(clock);
}

static void take_strand(const struct trace_event *event, int rank)
{
	struct slot_name thing = { .kind = SLOT_THING, .object = (uint64_t)rank, .a = event->id };

	if (event->kind == TRACE_RELEASE)
		slot_release(thing, rank);
	if (event->kind == TRACE_ACQUIRE)
		slot_acquire(thing, rank);
	if (event->kind == TRACE_SPREAD)
		clock_spread(rank);
	if (event->kind == TRACE_JOIN && event->id < TRACE_STRANDS)
		learn_of(rank, (uint16_t)event->id);
	else if (event->kind == TRACE_JOIN || event->kind == TRACE_MERGE)
		learn_of_all(rank);
}

/* ---- events ---- */

static void take_name(const struct view *view, const struct trace_piece pieces[])
{
	snprintf(view->window->name, sizeof(view->window->name), "%.*s", PART_NAME_BYTES - 1, (const char *)pieces);
}

static void take_free(struct view *view, const struct trace_event *event)
{
	complete(view, all_targets, event->site);
	clock_spread(view->rank); /* any thread may get the memory */
	close_view(view);
}

static void take_window(struct view *view, const struct trace_event *event)
{
	open_view(view);
	if (view->window->is_shared && view->size_bytes > 0)
		add_mapping(view, view->rank, view->base, view->size_bytes);
	rules_of_window(view, event);
}

/* The owner may not know of it: its part counts as shared from its creation on. */
static void take_part(const struct trace_event *event, int rank)
{
	struct view *view = view_of(event->object, event->rank);

	if (view)
		add_mapping(view, rank, event->base,
		            event->size_bytes < view->size_bytes ? event->size_bytes : view->size_bytes);
}

static void take_event(const struct trace_event *event, const struct trace_piece pieces[], int rank)
{
	struct view *view = view_of(event->object, rank);

	take_strand(event, rank);
	take_buffers(event, rank, pieces);
	take_message(event, rank, pieces);
	if (event->kind == TRACE_INIT)
		replaying.ranks[rank].begun_at = event->site;
	if (event->kind == TRACE_THREAD)
		rules_of_threads(event, rank);
	if (event->kind == TRACE_FREED)
		rules_of_memory(event, rank);
	if (event->kind == TRACE_ENTER)
		rules_of_collective(event, rank);
	if (event->kind == TRACE_PART)
		take_part(event, rank);
	if (event->kind == TRACE_OUTSIDE)
		local_outside(event, rank);
	if (!view)
		return;
	if (event->kind == TRACE_WINDOW)
		take_window(view, event);
	if (event->kind == TRACE_OPERATION)
		take_operation(view, event, pieces);
	take_promise(view, event);
	take_epoch(view, event);
	if (event->kind == TRACE_NUMBER)
		view->window->number = event->id;
	if (event->kind == TRACE_WINDOW_NAME)
		take_name(view, pieces);
	if (event->kind == TRACE_WINDOW_FREE)
		take_free(view, event);
	if (event->kind == TRACE_REFUSED)
		rules_of_refused(view, event, pieces);
	else if (event->kind != TRACE_ATTACH && event->kind != TRACE_DETACH && event->kind != TRACE_PART)
		view->latest = (struct call){ event->rank, event->site };
}

static bool any_is_shared;

static void note_shared(const struct view *view)
{
	any_is_shared |= view->window->is_shared;
}

static bool has_shared(void)
{
	for_views(note_shared);
	return any_is_shared;
}

static void scan(const struct trace_event *event, int rank)
{
	replaying.ranks[rank].left[event->strand]++;
	if (event->kind == TRACE_WINDOW)
		add_view(event, rank);
	if (event->kind == TRACE_PART && event->rank != rank && view_of(event->object, rank))
		view_of(event->object, rank)->window->is_shared = true;
	local_scan(event, rank);
}

/* ---- what the traces do not show ---- */

static struct slot_name members_slot(const struct view *view)
{
	return (struct slot_name){ .kind = SLOT_MEMBERS, .object = view->key };
}

/* Members of shared memory may have used loads and stores as messages, and owners have polled. */
static void acquire_hidden(int rank)
{
	slot_acquire((struct slot_name){ .kind = SLOT_POLLED, .object = (uint64_t)rank }, rank);
	for (const struct view *view = replaying.ranks[rank].views; view; view = view->next_of_rank) {
		if (view->window->is_shared)
			clock_join_hidden(rank, slot_find(members_slot(view)));
	}
}

static void release_hidden(int rank)
{
	for (const struct view *view = replaying.ranks[rank].views; view; view = view->next_of_rank) {
		if (view->window->is_shared)
			slot_release(members_slot(view), rank);
	}
}

/* The segments that no call has ended. */
static void judge_rest(void)
{
	for (int rank = 0; rank < replaying.traces->size; rank++) {
		act(rank, 0);
		acquire_hidden(rank);
		locals_judge(rank);
	}
}

void members_may_signal(uint32_t site, const char *by)
{
	if (replaying.verdict->signals)
		return;
	replaying.verdict->signals = by;
	replaying.verdict->signals_at = site;
}

bool members_signal(void)
{
	return replaying.verdict->signals;
}

/* Some flags may not be seen. */
static void find_silent(int rank)
{
	const struct trace *trace = replaying.traces->list[rank].trace;

	if (trace->compiled_objects == 0)
		members_may_signal(TRACE_NONE, "programs that were not compiled so");
	if (trace->state != PART_ENDED || trace->lost_loads || trace->unwatched_bytes)
		members_may_signal(TRACE_NONE, "what was not recorded");
}

/* ---- forgetting ---- */

/* Takes away from the clock what a strand of the rank that has events left does not know. */
static void lower(struct clock *oldest, int rank)
{
	for (uint16_t strand = 0; strand < replaying.traces->list[rank].trace->strand_count; strand++) {
		struct clock *now;

		clock_act(rank, strand);
		now = clock_keep(rank);
		if (replaying.ranks[rank].left[strand] > 0)
			clock_lower(oldest, now);
		clock_drop(now);
	}
}

static void forget(void)
{
	struct clock *oldest = clock_of_all_times();

	for (int rank = 0; rank < replaying.traces->size; rank++) {
		lower(oldest, rank);
		for (const struct view *view = replaying.ranks[rank].views; view; view = view->next_of_rank) {
			for (uint32_t i = 0; i < view->count; i++)
				clock_lower(oldest, view->pending[i]->issued);
		}
	}
	accesses_forget(oldest);
	clock_drop(oldest);
	forget_at = 2 * accesses_count() > FORGET_AT ? 2 * accesses_count() : FORGET_AT;
}

void replay(struct job_traces *traces, struct verdict *verdict)
{
	struct judge_event next;

	replaying.traces = traces;
	replaying.verdict = verdict;
	verdict->unknown = TRACE_NONE;
	replaying.ranks = calloc((size_t)traces->size, sizeof(*replaying.ranks));
	if (!replaying.ranks)
		program_fail("out of memory");
	for (int rank = 0; rank < traces->size; rank++) {
		make_strands(rank);
		find_silent(rank);
	}
	accesses_make(traces->size);
	locals_make(traces->size);
	traces_scan(traces, scan);
	clocks_make(traces, has_shared());
	while (!verdict->is_full && !verdict->is_ended && traces_next(traces, &next)) {
		if (next.event.kind == TRACE_UNKNOWN) {
			verdict->is_ended = true;
			verdict->unknown = next.event.site;
			return;
		}
		replaying.event_ns = next.event.ns;
		replaying.ranks[next.rank].left[next.event.strand]--;
		act(next.rank, next.event.strand);
		acquire_hidden(next.rank);
		if (next.event.kind == TRACE_LOCAL) {
			local_add(&next.event, next.rank);
		} else {
			locals_judge(next.rank);
			take_event(&next.event, next.pieces, next.rank);
			locals_begin(next.rank);
		}
		release_hidden(next.rank);
		if (accesses_count() > forget_at)
			forget();
		verdict->is_full = accesses_count() > ACCESSES_MAX;
	}
	if (traces->is_cut || verdict->is_full || verdict->is_ended)
		return;
	if (!traces->is_running)
		judge_rest();
	rules_of_end();
}
