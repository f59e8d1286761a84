// SPDX-License-Identifier: BSD-2-Clause
/* See local.h. */
#include "check/judge/local.h"

#include <stdlib.h>

#include "base/util.h"
#include "check/compiled/compiled.h"

#define QUEUE_MAX 65536 /* events of a segment that are kept; it is judged in parts then */
#define PEEKS_MAX 256   /* of one rank's memory; more become one that reaches over all */
#define LIST_MAX 65536  /* stretches; more become one */

struct stretch {
	uint64_t first, last;
};

/* A place that others look at. */
struct peek {
	struct stretch at;
	uint64_t ns; /* when the first began */
	uint32_t pending;
};

/* A rank's. */
struct locals {
	struct trace_event *queue;
	uint32_t count, capacity;
	uint64_t begun_ns; /* of the segment */
	struct peek *peeks;
	uint32_t peek_count, peek_capacity;
	struct stretch *flags; /* where it ever stores small values; in order once `is_sorted` */
	uint32_t flag_count, flag_capacity;
	bool is_sorted;
	bool is_partial; /* a store may be missing */
};

static struct locals *locals; /* by rank */

/* A block of a part in which a member has made atomics whose order is not relaxed. */
struct ordered {
	const struct view *part;
	uint64_t block; /* of the owner's memory */
	int rank;       /* that was the first */
};

static struct ordered *ordered;
static uint32_t ordered_count, ordered_capacity;
static bool is_synced;

void locals_make(int ranks)
{
	locals = calloc((size_t)ranks, sizeof(*locals));
	if (!locals)
		program_fail("out of memory");
}

static bool is_store(const struct trace_event *event)
{
	return event->flags == KIND_STORE || event->flags == KIND_ATOMIC_STORE || event->flags == KIND_TOUCH_STORE;
}

/* It stands for an access of some of its bytes, and for others of its page (pages/pages.h). */
static bool is_touch(const struct trace_event *event)
{
	return event->flags == KIND_TOUCH_LOAD || event->flags == KIND_TOUCH_STORE;
}

static struct stretch stretch_of(const struct trace_event *event)
{
	return (struct stretch){ event->local.first, event->local.first + (event->local.rows - 1) * event->local.pitch +
		                                             (uint64_t)(event->local.count - 1) * event->local.stride +
		                                             event->local.bytes - 1 };
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool overlap(const struct stretch *a, const struct stretch *b)
{
	return a->first <= b->last && b->first <= a->last;
}

static void widen(struct stretch *stretch, const struct stretch *more)
{
	if (more->first < stretch->first)
		stretch->first = more->first;
	if (more->last > stretch->last)
		stretch->last = more->last;
}

/* ---- where a rank stores small values ---- */

static int compare(const void *a, const void *b)
{
	const struct stretch *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

/* Sorts the stretches, and joins those that touch. */
static void sort_flags(struct locals *of)
{
	uint32_t kept = 0;

	if (of->is_sorted || of->flag_count == 0)
		return;
	of->is_sorted = true;
	qsort(of->flags, of->flag_count, sizeof(*of->flags), compare);
	for (uint32_t i = 1; i < of->flag_count; i++) {
		if (of->flags[i].first <= of->flags[kept].last + 1)
			widen(&of->flags[kept], &of->flags[i]);
		else
			of->flags[++kept] = of->flags[i];
	}
	of->flag_count = kept + 1;
}

/* If many are left when they are sorted, they become one. */
static void make_room(struct locals *of)
{
	if (of->flag_count < LIST_MAX)
		return;
	sort_flags(of);
	if (of->flag_count < LIST_MAX / 2)
		return;
	widen(&of->flags[0], &of->flags[of->flag_count - 1]);
	of->flag_count = 1;
}

void local_scan(const struct trace_event *event, int rank)
{
	struct locals *of = &locals[rank];

	if (event->kind == TRACE_LOCAL && is_touch(event))
		of->is_partial = true;
	is_synced |= event->kind == TRACE_OUTSIDE && event->id == ORDER_SYNC;
	if (event->kind != TRACE_LOCAL || is_touch(event) || !is_store(event) || event->local.bytes > FLAG_BYTES)
		return;
	make_room(of);
	of->is_sorted = false;
	*(struct stretch *)program_append(&of->flags, &of->flag_count, &of->flag_capacity, sizeof(struct stretch)) =
		stretch_of(event);
}

static bool has_flag(struct locals *of, const struct stretch *at)
{
	uint32_t first = 0, end;

	sort_flags(of);
	for (end = of->flag_count; first < end;) {
		uint32_t middle = first + (end - first) / 2;

		if (of->flags[middle].last < at->first)
			first = middle + 1;
		else
			end = middle;
	}
	return first < of->flag_count && overlap(&of->flags[first], at);
}

/* ---- what members order by atomics ---- */

static void note_order(const struct view *part, uint64_t block, int rank)
{
	for (uint32_t i = 0; i < ordered_count; i++) {
		if (ordered[i].part != part || ordered[i].block != block)
			continue;
		if (ordered[i].rank != rank)
			members_may_signal(TRACE_NONE, "atomics in a shared window");
		return;
	}
	*(struct ordered *)program_append(&ordered, &ordered_count, &ordered_capacity, sizeof(*ordered)) =
		(struct ordered){ part, block, rank };
}

/* A block may have several members' parts. */
static void note_block(uint64_t block, int rank)
{
	const struct rank_state *state = &replaying.ranks[rank];
	uint64_t first = block * ORDER_BLOCK_BYTES, end = first + ORDER_BLOCK_BYTES;

	for (uint32_t i = 0; i < state->mapping_count && !members_signal(); i++) {
		const struct mapping *mapping = &state->mappings[i];

		if (mapping->first < end && first < mapping->end)
			note_order(mapping->view,
			           (most(first, mapping->first) - mapping->first + mapping->view->base) / ORDER_BLOCK_BYTES, rank);
	}
}

void local_outside(const struct trace_event *event, int rank)
{
	if (event->id == 0)
		members_may_signal(TRACE_NONE, "locks of processes, or fences,");
	else if (event->id != ORDER_SYNC)
		note_block(event->id, rank);
}

bool members_sync(void)
{
	return is_synced;
}

/* ---- peeks ---- */

/* Returns whether the rank is a member of a shared window. */
static bool is_shared(int rank)
{
	for (const struct view *view = replaying.ranks[rank].views; view; view = view->next_of_rank) {
		if (view->window->is_shared)
			return true;
	}
	return false;
}

bool is_peek(const struct operation *operation)
{
	return operation->at->is_flag &&
	       (operation->is_fetch || operation->at->how == HOW_GET || operation->at->how == HOW_READ_ATOMICALLY);
}

static struct stretch piece_of(const struct access *access)
{
	return (struct stretch){ access->pieces[0].first, access->pieces[0].first + access->pieces[0].bytes - 1 };
}

static struct peek *find_peek(struct locals *of, const struct stretch *at)
{
	for (uint32_t i = 0; i < of->peek_count; i++) {
		if (of->peeks[i].at.first <= at->first && of->peeks[i].at.last >= at->last)
			return &of->peeks[i];
	}
	return NULL;
}

static void join_peeks(struct locals *of)
{
	for (uint32_t i = 1; i < of->peek_count; i++) {
		widen(&of->peeks[0].at, &of->peeks[i].at);
		of->peeks[0].pending += of->peeks[i].pending;
		if (of->peeks[i].ns < of->peeks[0].ns)
			of->peeks[0].ns = of->peeks[i].ns;
	}
	of->peek_count = 1;
}

void peek_begin(const struct access *access)
{
	struct locals *of = &locals[access->owner];
	struct stretch at = piece_of(access);
	struct peek *peek = find_peek(of, &at);

	if (!peek) {
		if (of->peek_count == PEEKS_MAX)
			join_peeks(of);
		peek = program_append(&of->peeks, &of->peek_count, &of->peek_capacity, sizeof(*peek));
		*peek = (struct peek){ .at = at, .ns = access->ns };
	}
	peek->pending++;
}

void peek_end(const struct access *access, bool is_first)
{
	struct locals *of = &locals[access->owner];
	struct stretch at = piece_of(access);
	struct peek *peek = find_peek(of, &at);
	struct clock *known;

	if (is_first && peek && peek->pending > 0)
		peek->pending--;
	if (!of->is_partial && !has_flag(of, &at))
		return;
	if (is_shared(access->owner))
		members_may_signal(access->site, "words that others get");
	known = clock_of_all(access->owner);
	clock_join(access->rank, known);
	clock_drop(known);
}

/* ---- a segment ---- */

void local_add(const struct trace_event *event, int rank)
{
	struct locals *of = &locals[rank];

	if (of->count == QUEUE_MAX)
		locals_judge(rank);
	*(struct trace_event *)program_append(&of->queue, &of->count, &of->capacity, sizeof(*event)) = *event;
}

/* Returns whether the segment has stored a small value where the others look, or may have. */
static bool is_seen(const struct locals *of, const struct peek *peek)
{
	if (of->is_partial)
		return true;
	for (uint32_t i = 0; i < of->count; i++) {
		struct stretch at = stretch_of(&of->queue[i]);

		if (is_store(&of->queue[i]) && of->queue[i].local.bytes <= FLAG_BYTES && overlap(&at, &peek->at))
			return true;
	}
	return false;
}

/* Returns since when others may know of the segment, or 0: they do not. */
static uint64_t known_since(const struct locals *of, int rank)
{
	uint64_t since = is_shared(rank) ? of->begun_ns : UINT64_MAX;

	for (uint32_t i = 0; i < of->peek_count && since > of->begun_ns; i++) {
		const struct peek *peek = &of->peeks[i];

		if (peek->ns < since && is_seen(of, peek))
			since = peek->ns > of->begun_ns ? peek->ns : of->begun_ns;
	}
	return since == UINT64_MAX ? 0 : since;
}

/* Memory that a run accesses, of one owner. */
struct pieces {
	struct trace_piece list[2 * RUN_PIECES_MAX]; /* more are left out */
	uint32_t count;
};

static void add_piece(struct pieces *pieces, uint64_t first, uint64_t end)
{
	if (first < end && pieces->count < 2 * RUN_PIECES_MAX)
		pieces->list[pieces->count++] = (struct trace_piece){ first, end - first };
}

static void pieces_of_run(const struct trace_event *event, struct pieces *pieces)
{
	bool is_whole = event->local.stride == event->local.bytes;
	uint64_t bytes = is_whole ? (uint64_t)event->local.count * event->local.bytes : event->local.bytes;

	pieces->count = 0;
	for (uint64_t row = 0; row < event->local.rows; row++) {
		for (uint64_t i = 0; i < (is_whole ? 1 : event->local.count); i++) {
			uint64_t first = event->local.first + row * event->local.pitch + i * event->local.stride;

			add_piece(pieces, first, first + bytes);
		}
	}
}

/* Moves what lies in the part from one list to the other, at its owner's addresses. */
static void take_mapped(struct pieces *from, const struct mapping *mapping, struct pieces *to)
{
	static struct pieces rest;

	rest.count = to->count = 0;
	for (uint32_t i = 0; i < from->count; i++) {
		uint64_t first = from->list[i].first, end = first + from->list[i].bytes;
		uint64_t begin = most(first, mapping->first), last = least(end, mapping->end);

		if (begin >= last) {
			add_piece(&rest, first, end);
			continue;
		}
		add_piece(&rest, first, begin);
		add_piece(to, begin - mapping->first + mapping->view->base, last - mapping->first + mapping->view->base);
		add_piece(&rest, last, end);
	}
	*from = rest;
}

/* Its time is that of the rank's last call: it may be soon behind. NULL: in no shared window. */
static struct access *access_of(const struct trace_event *event, int rank, uint64_t since_ns,
                                const struct mapping *mapping, const struct pieces *pieces)
{
	return access_new((struct access){ .rank = rank,
	                                   .owner = mapping ? mapping->view->rank : rank,
	                                   .how = is_store(event) ? HOW_STORE : HOW_LOAD,
	                                   .is_own = true,
	                                   .is_indivisible = event->flags >= KIND_ATOMIC_LOAD,
	                                   .is_flag = event->local.bytes <= FLAG_BYTES || is_touch(event),
	                                   .is_some = is_touch(event),
	                                   .strand = event->strand,
	                                   .since_ns = since_ns,
	                                   .shared = mapping ? mapping->view->window : NULL,
	                                   .base = mapping ? mapping->view->base : 0,
	                                   .site = event->site,
	                                   .ns = locals[rank].begun_ns },
	                  pieces->list, pieces->count);
}

static void judge_access(struct access *access, int rank)
{
	access_end(access, (struct end){ clock_index(rank), clock_time(rank), access->site, replaying.event_ns });
	if (access->since_ns)
		access_pass(access, clock_keep(rank));
	else
		access_begin(access, clock_keep(rank));
}

/* `begun` has a bit for each strand with a run before this one. */
static void judge_run(const struct trace_event *event, int rank, uint64_t since_ns, uint64_t *begun)
{
	static struct pieces pieces, of_mapping;
	const struct rank_state *state = &replaying.ranks[rank];
	struct stretch at = stretch_of(event);

	clock_act(rank, event->strand);
	if (!(*begun >> event->strand & 1))
		clock_step(rank);
	*begun |= 1ULL << event->strand;
	pieces_of_run(event, &pieces);
	for (uint32_t i = 0; i < state->mapping_count && pieces.count > 0; i++) {
		if (state->mappings[i].first > at.last || state->mappings[i].end <= at.first)
			continue;
		take_mapped(&pieces, &state->mappings[i], &of_mapping);
		if (of_mapping.count > 0)
			judge_access(access_of(event, rank, since_ns, &state->mappings[i], &of_mapping), rank);
	}
	if (pieces.count > 0)
		judge_access(access_of(event, rank, since_ns, NULL, &pieces), rank);
}

/* Loads come first: one that polls ends what a store then overwrites. */
void locals_judge(int rank)
{
	struct locals *of = &locals[rank];
	uint64_t since_ns, begun = 0;

	if (of->count == 0)
		return;
	since_ns = known_since(of, rank);
	for (uint32_t i = 0; i < of->count; i++) {
		if (!is_store(&of->queue[i]))
			judge_run(&of->queue[i], rank, since_ns, &begun);
	}
	for (uint32_t i = 0; i < of->count; i++) {
		if (is_store(&of->queue[i]))
			judge_run(&of->queue[i], rank, since_ns, &begun);
	}
	clock_act(rank, replaying.strand);
	of->count = 0;
}

void locals_begin(int rank)
{
	struct locals *of = &locals[rank];
	uint32_t kept = 0;

	of->begun_ns = replaying.event_ns;
	for (uint32_t i = 0; i < of->peek_count; i++) {
		if (of->peeks[i].pending > 0)
			of->peeks[kept++] = of->peeks[i];
	}
	of->peek_count = kept;
}
