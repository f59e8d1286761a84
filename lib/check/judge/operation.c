// SPDX-License-Identifier: BSD-2-Clause
/* See view.h. */
#include <stdlib.h>

#include "check/judge/local.h"
#include "check/judge/misuse.h"
#include "oriel.h"

#define FEW_PIECES 8

/* ---- when an operation takes effect ---- */

typedef void learn_call(void *learner, const struct clock *clock);

/* An access of this rank begins. */
struct begin {
	struct clock *clock;
	int rank;
};

/* The unlock that ends the operation may be among these: it must not begin behind that. */
static void join_begin(void *learner, const struct clock *clock)
{
	struct begin *begin = learner;

	begin->clock = clock_joined_of_others(begin->clock, clock, begin->rank);
}

static void join_rank(void *learner, const struct clock *clock)
{
	clock_join(*(const int *)learner, clock);
}

/* A lock may be granted as late as the first operation takes effect: it follows these unlocks. */
static void learn_of_locks(const struct view *view, const struct operation *operation, learn_call *learn, void *learner)
{
	learn(learner, slot_find(window_slot(SLOT_EXCLUSIVE, view, (uint64_t)operation->target)));
	if (!operation->is_exclusive)
		return;
	learn(learner, slot_find(window_slot(SLOT_SHARED, view, (uint64_t)operation->target)));
	learn(learner, slot_find(window_slot(SLOT_SHARED, view, EVERY)));
}

/* Returns the clock with which the access at the target begins. */
static struct clock *begin_of(const struct view *view, struct operation *operation)
{
	struct slot_name post = { .kind = SLOT_POST,
		                      .object = view->key,
		                      .a = (uint64_t)operation->target,
		                      .b = (uint64_t)view->rank,
		                      .c = operation->number };
	struct slot_name fence = {
		.kind = SLOT_FENCE_OF, .object = view->key, .a = operation->number, .b = (uint64_t)operation->target
	};
	struct begin begin = { operation->issued, view->rank };

	operation->issued = NULL;
	if (operation->gate == GATE_LOCKS)
		learn_of_locks(view, operation, join_begin, &begin);
	if (operation->gate == GATE_POST)
		begin.clock = clock_joined(begin.clock, slot_find(post));
	if (operation->gate == GATE_FENCE)
		begin.clock = clock_joined(begin.clock, slot_find(fence));
	return begin.clock;
}

static void judge_late(const struct view *view, struct operation *operation)
{
	if (operation->issued)
		access_begin(operation->at, begin_of(view, operation));
}

static void set_gate(struct view *view, struct operation *operation)
{
	const struct partner *started = find_partner(&view->started, operation->target);
	const struct partner *lock = find_partner(&view->locks, operation->target);

	if (started) {
		operation->gate = GATE_POST;
		operation->number = started->number;
	} else if (lock || view->is_locked_all) {
		operation->gate = GATE_LOCKS;
		operation->is_exclusive = lock && lock->number;
	} else if (view->holds_effects_back) {
		operation->gate = GATE_FENCE;
		operation->number = view->fences;
	}
}

/* ---- operations ---- */

static enum access_how how_of(const struct trace_event *event)
{
	if (event->of.access == ACCESS_PUT)
		return HOW_PUT;
	if (event->of.access == ACCESS_GET)
		return HOW_GET;
	return event->of.op == ORIEL_NO_OP ? HOW_READ_ATOMICALLY : HOW_ACCUMULATE;
}

/* The buffers of an operation are read, or written, by the origin from its call on. */
static struct access *begin_at_origin(const struct view *view, const struct trace_event *event, enum access_how how,
                                      const struct trace_piece pieces[], uint32_t count)
{
	struct access access = { .rank = view->rank,
		                     .owner = view->rank,
		                     .target = event->rank,
		                     .how = how,
		                     .kept = 1,
		                     .has_request = event->of.request,
		                     .is_local = true,
		                     .strand = event->strand,
		                     .site = event->site,
		                     .ns = event->ns,
		                     .window = view->window };
	struct access *made;

	if (count == 0)
		return NULL;
	made = access_new(access, pieces, count);
	access_begin(made, clock_keep(view->rank));
	return made;
}

static uint64_t address_of(const struct view *target, uint64_t disp)
{
	return target->is_dynamic ? disp : target->base + disp * target->unit_bytes;
}

static struct access *make_at_target(const struct view *view, const struct view *target,
                                     const struct trace_event *event, const struct trace_piece pieces[])
{
	struct access access = { .rank = view->rank,
		                     .owner = target->rank,
		                     .target = target->rank,
		                     .how = how_of(event),
		                     .type = event->of.type,
		                     .op = event->of.op,
		                     .kept = 1,
		                     .has_request = event->of.request,
		                     .strand = event->strand,
		                     .site = event->site,
		                     .ns = event->ns,
		                     .window = view->window,
		                     .base = target->is_dynamic ? 0 : target->base };
	struct trace_piece few[FEW_PIECES] = { { 0 } }, *moved = few;
	struct access *made;

	if (event->of.target_pieces > FEW_PIECES)
		moved = malloc(event->of.target_pieces * sizeof(*moved));
	if (!moved)
		program_fail("out of memory");
	for (uint32_t i = 0; i < event->of.target_pieces; i++) {
		moved[i] = pieces[i];
		if (event->flags & OPERATION_OFFSETS)
			moved[i].first += address_of(target, event->of.disp);
		else
			moved[i].first = address_of(target, pieces[i].first);
	}
	made = access_new(access, moved, event->of.target_pieces);
	if (moved != few)
		free(moved);
	return made;
}

static bool is_passive(struct view *view, int target)
{
	return view->is_locked_all || find_partner(&view->locks, target);
}

/* Returns whether the value of an operation may be a message, for its target or for its origin. */
static bool is_flag(const struct operation *operation, bool passive)
{
	return passive && operation->at->rank != operation->at->owner && operation->at->piece_count == 1 &&
	       operation->at->pieces[0].bytes <= FLAG_BYTES;
}

/* Returns whether it accesses a value that any member of a shared window may take for a flag. */
static bool has_small_piece(const struct access *access)
{
	for (uint32_t i = 0; i < access->piece_count; i++) {
		if (access->pieces[i].bytes <= FLAG_BYTES)
			return true;
	}
	return false;
}

void take_operation(struct view *view, const struct trace_event *event, const struct trace_piece pieces[])
{
	struct view *target = view_of(view->key, event->rank);
	struct operation *operation;

	replaying.verdict->operations++;
	if (!target || event->of.target_pieces == 0) {
		replaying.verdict->not_judged++;
		return;
	}
	operation = calloc(1, sizeof(*operation));
	if (!operation)
		program_fail("out of memory");
	*(struct operation **)program_append(&view->pending, &view->count, &view->capacity, sizeof(operation)) = operation;
	operation->serial = ++replaying.serials;
	operation->request = event->of.request;
	operation->target = event->rank;
	operation->strand = event->strand;
	operation->is_fetch = event->of.access == ACCESS_FETCH;
	operation->at = make_at_target(view, target, event, pieces);
	if (event->flags & OPERATION_REFUSED)
		return;
	operation->index = clock_index(view->rank);
	operation->time = clock_is_split(view->rank) ? clock_step(view->rank) : 0;
	operation->issued = clock_keep(view->rank);
	set_gate(view, operation);
	if (operation->request)
		add_partner(&view->requests, operation->request, event);
	rules_of_operation(view, target, operation, event);
	pieces += event->of.target_pieces;
	operation->read = begin_at_origin(view, event, HOW_LOAD, pieces, event->of.read_pieces);
	pieces += event->of.read_pieces;
	operation->written = begin_at_origin(view, event, HOW_STORE, pieces, event->of.written_pieces);
	operation->at->is_flag = is_flag(operation, is_passive(view, event->rank));
	if (view->window->is_shared && is_passive(view, event->rank) && has_small_piece(operation->at))
		members_may_signal(event->site, "operations of a few bytes");
	if (is_peek(operation))
		peek_begin(operation->at);
	if (operation->at->how == HOW_ACCUMULATE)
		release_elements(operation->at);
	if ((operation->at->how == HOW_PUT || operation->at->how == HOW_ACCUMULATE) && is_passive(view, event->rank))
		release_polled(operation->at);
	if (operation->gate == GATE_NONE)
		judge_late(view, operation);
	else if ((operation->at->is_flag || operation->at->how == HOW_ACCUMULATE) && !is_peek(operation))
		access_await(operation->at, operation->issued);
}

/* ---- completion ---- */

const struct choice all_targets = { .target = -1, .serial = UINT64_MAX };

static bool is_chosen(const struct operation *operation, const struct choice *choice)
{
	return !operation->is_over && (choice->target < 0 || operation->target == choice->target) &&
	       operation->serial <= choice->serial && (!choice->request || operation->request == choice->request) &&
	       (!choice->in_started || operation->gate == GATE_POST) && !(choice->by_request && operation->is_closed);
}

/* A get, or an accumulate that has brought a result, is over on both sides. */
static bool ends_at_target(const struct operation *operation, const struct choice *choice)
{
	return !choice->is_local || operation->is_fetch || operation->at->how == HOW_GET;
}

/*
 * Returns whether a request ends an operation too early. Requests of one window and target share a
 * number (request_id in front/oriel_epoch_calls.c), so the number of an earlier request may end an
 * operation that is still held back. A later call ends it.
 */
static bool is_early(const struct operation *operation, const struct choice *choice)
{
	return choice->by_request && operation->gate != GATE_NONE;
}

static uint64_t own_bit(void)
{
	return 1ULL << replaying.strand;
}

static void end_at_origin(struct operation *operation, struct end end)
{
	if (operation->is_local & own_bit())
		return;
	access_end(operation->read, end);
	access_end(operation->written, end);
	operation->is_local |= own_bit();
}

static void end_at_target(struct operation *operation, struct end end)
{
	if (operation->is_ended & own_bit())
		return;
	access_end(operation->at, end);
	if (operation->is_fetch)
		access_fetched(operation->at);
	if (is_peek(operation))
		peek_end(operation->at, !operation->is_ended);
	operation->is_ended |= own_bit();
}

/* Returns whether the strand that acts has learnt of the call of the operation. */
static bool knows_of_begin(const struct view *view, const struct operation *operation)
{
	struct clock *clock = clock_keep(view->rank);
	bool is_known = clock_knows(clock, operation->index, operation->time);

	clock_drop(clock);
	return is_known;
}

/* Returns whether the strand of the operation has learnt of the first end, on both sides. */
static bool knows_of_end(const struct view *view, const struct operation *operation)
{
	bool is_known;
	struct clock *clock;

	clock_act(view->rank, operation->strand);
	clock = clock_keep(view->rank);
	clock_act(view->rank, replaying.strand);
	is_known = clock_knows(clock, operation->at->end.index, operation->at->end.time);
	clock_drop(clock);
	return is_known;
}

/*
 * A strand may complete what another one has issued, if it comes behind that. The other one may
 * complete it once more: each knows by its own call.
 */
void end_operations(struct view *view, const struct choice *choice, uint32_t site)
{
	struct end end = end_now(view->rank, site);

	for (uint32_t i = 0; i < view->count; i++) {
		struct operation *operation = view->pending[i];
		bool is_known = !choice->by_strand || operation->strand == replaying.strand;

		if (!is_chosen(operation, choice) || (!is_known && !knows_of_begin(view, operation)))
			continue;
		end_at_origin(operation, end);
		operation->is_closed |= choice->in_started;
		if (ends_at_target(operation, choice))
			end_at_target(operation, end);
		operation->is_complete = operation->is_waited || (operation->is_ended & own_bit() && !operation->is_closed &&
		                                                  !is_early(operation, choice));
		operation->is_over = operation->is_complete && (is_known || knows_of_end(view, operation));
	}
}

static void drop_operation(struct operation *operation)
{
	let_go(operation->at);
	let_go(operation->read);
	let_go(operation->written);
	free(operation);
}

/* It has taken effect, or brought its result. */
static void settle_operation(const struct view *view, struct operation *operation)
{
	int rank = view->rank;

	if (operation->is_settled & own_bit())
		return;
	operation->is_settled |= own_bit();
	if (operation->is_fetch)
		acquire_elements(operation->at);
	if (operation->written)
		clock_join_own(rank, operation->target);
	if (operation->gate == GATE_LOCKS)
		learn_of_locks(view, operation, join_rank, &rank);
	judge_late(view, operation);
}

static bool is_complete_here(const struct operation *operation)
{
	return operation->is_complete && operation->is_ended & own_bit();
}

void settle_operations(struct view *view, bool has_posts)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < view->count; i++) {
		struct operation *operation = view->pending[i];

		if (operation->is_over || is_complete_here(operation) || (has_posts && operation->gate == GATE_POST))
			settle_operation(view, operation);
		if (operation->is_over)
			drop_operation(operation);
		else
			view->pending[kept++] = operation;
	}
	view->count = kept;
}

void complete(struct view *view, struct choice choice, uint32_t site)
{
	end_operations(view, &choice, site);
	settle_operations(view, choice.in_started);
}
