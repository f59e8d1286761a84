// SPDX-License-Identifier: BSD-2-Clause
/* See misuse.h. */
#include "check/judge/misuse.h"

#include <inttypes.h>

#include "oriel.h"

#define LOWEST_MEMORY 0x400000 /* programs are loaded there, or higher; MPI_BOTTOM may be 0 */

static const struct misuse_call no_call = { -1, TRACE_NONE };

static struct misuse_call call_of(const struct view *view, const struct trace_event *event)
{
	return (struct misuse_call){ view->rank, event->site };
}

/* ---- operations, fences, posts ---- */

static bool is_changing(const struct operation *operation)
{
	return operation->at->piece_count > 0 && (operation->at->how == HOW_PUT || operation->at->how == HOW_ACCUMULATE);
}

static bool is_of_fence(const struct operation *operation)
{
	return operation->gate == GATE_NONE || operation->gate == GATE_FENCE;
}

static void rule_of_requests(struct view *view, const struct operation *operation, const struct misuse_call *call)
{
	const struct partner *started = find_partner(&view->started, operation->target);
	struct misuse_call opening = { view->rank, started ? started->site : view->fence.site };

	if (operation->request && operation->gate != GATE_LOCKS)
		misuse_add(MISUSE_REQUEST, view->window, *call, opening);
}

/* The target may have begun the fence that ends the epoch, but waits in it for this origin. */
static void rule_of_noput(const struct view *view, struct view *target, const struct operation *operation,
                          const struct misuse_call *call)
{
	const struct partner *post = find_partner(&target->posted, view->rank);
	const struct fence *latest = &target->fence;
	const struct fence *fence = latest->number > view->fences ? &target->fence_before : latest;

	if (!is_changing(operation))
		return;
	if (is_of_fence(operation) && fence->flags & FENCE_NOPUT && fence->number == view->fences)
		misuse_add(MISUSE_NOPUT_FENCE, view->window, (struct misuse_call){ target->rank, fence->site }, *call);
	if (operation->gate == GATE_POST && post && post->number == operation->number && post->flags & POST_NOPUT)
		misuse_add(MISUSE_NOPUT_POST, view->window, (struct misuse_call){ target->rank, post->site }, *call);
}

/* Returns to what an element of the type must be aligned, or 1: that is not followed. */
static uint64_t alignment_of(uint8_t type)
{
	return type == ORIEL_FLOAT || type == ORIEL_DOUBLE || (type >= ORIEL_INT8 && type <= ORIEL_UINT64)
	           ? oriel_type_bytes(type)
	           : 1;
}

static void rule_of_alignment(const struct view *view, const struct view *target, const struct operation *operation,
                              const struct misuse_call *call)
{
	const struct access *at = operation->at;
	struct misuse_call making = { target->rank, target->made_at };

	if (view->window->is_of_mpi && at->piece_count > 0 && at->pieces[0].first % alignment_of(at->type) != 0)
		misuse_add(HINT_ALIGNMENT, view->window, *call, making.site == TRACE_NONE ? no_call : making);
}

void rules_of_operation(struct view *view, struct view *target, const struct operation *operation,
                        const struct trace_event *event)
{
	const struct misuse_call call = call_of(view, event);

	rule_of_requests(view, operation, &call);
	rule_of_noput(view, target, operation, &call);
	rule_of_alignment(view, target, operation, &call);
}

void rules_of_fence(struct view *view, const struct trace_event *event)
{
	const uint16_t common = FENCE_NOPRECEDE | FENCE_NOSUCCEED;
	struct fence *first = &view->window->fence;
	struct misuse_call call = call_of(view, event);

	if (first->number < event->id)
		*first = (struct fence){ event->id, view->rank, event->site, event->flags };
	else if (first->number == event->id && (first->flags & common) != (event->flags & common))
		misuse_add(MISUSE_NOT_ALL, view->window, (struct misuse_call){ first->rank, first->site }, call);
	for (uint32_t i = 0; event->flags & FENCE_NOPRECEDE && i < view->count; i++) {
		const struct operation *operation = view->pending[i];

		if (is_of_fence(operation) && operation->at->piece_count > 0 && !operation->is_over && !operation->is_complete)
			misuse_add(MISUSE_NOPRECEDE, view->window, (struct misuse_call){ view->rank, operation->at->site }, call);
	}
}

void rules_of_post(const struct view *view, uint64_t number, const struct trace_event *event)
{
	struct view *origin = view_of(view->key, event->rank);
	const struct partner *start = origin ? find_partner(&origin->started, view->rank) : NULL;
	struct misuse_call call = call_of(view, event);

	if (!start || start->number != number)
		return;
	if (start->flags & START_NOCHECK && view->window->is_of_mpi)
		misuse_add(MISUSE_START, view->window, (struct misuse_call){ origin->rank, start->site }, call);
	for (uint32_t i = 0; event->flags & POST_NOPUT && i < origin->count; i++) {
		const struct operation *operation = origin->pending[i];

		if (operation->gate == GATE_POST && operation->target == view->rank && operation->number == number &&
		    is_changing(operation))
			misuse_add(MISUSE_NOPUT_POST, view->window, call,
			           (struct misuse_call){ origin->rank, operation->at->site });
	}
}

/* ---- locks ---- */

/* Returns the lock of that member which excludes one like this, or NULL. */
static const struct partner *excluding_lock(struct view *member, const struct trace_event *event)
{
	bool is_exclusive = event->flags & LOCK_EXCLUSIVE;

	if (is_exclusive && member->is_locked_all)
		return &member->locked_all;
	for (uint32_t i = 0; i < member->locks.count; i++) {
		const struct partner *lock = &member->locks.list[i];

		if ((event->rank < 0 || lock->rank == event->rank) && (is_exclusive || lock->number))
			return lock;
	}
	return NULL;
}

void rules_of_lock(const struct view *view, const struct trace_event *event)
{
	bool is_unchecked = event->flags & LOCK_NOCHECK;

	if (!is_unchecked && view->window->unchecked_locks == 0)
		return;
	for (int rank = 0; rank < replaying.traces->size; rank++) {
		struct view *member = rank == view->rank ? NULL : view_of(view->key, rank);
		const struct partner *lock = member ? excluding_lock(member, event) : NULL;

		if (lock && (is_unchecked || lock->flags & LOCK_NOCHECK))
			misuse_add(MISUSE_LOCK, view->window, (struct misuse_call){ rank, lock->site }, call_of(view, event));
	}
}

/* ---- calls that were refused ---- */

/* Returns the call that has named the group, or TRACE_NONE: this one, or none. */
static uint32_t group_site(const struct partners *group, uint32_t site)
{
	if (group->replaced.flags)
		return group->replaced.site;
	return group->count > 0 && group->list[0].site != site ? group->list[0].site : TRACE_NONE;
}

/* Returns the call that has opened the epoch in which a call for this target is refused. */
static uint32_t epoch_site(struct view *view, int target, uint32_t site)
{
	const struct partner *lock = find_partner(&view->locks, target);

	if (lock)
		return lock->site;
	if (group_site(&view->started, site) != TRACE_NONE)
		return group_site(&view->started, site);
	if (view->is_locked_all)
		return view->locked_all.site;
	if (view->locks.count > 0)
		return view->locks.list[0].site;
	if (group_site(&view->posted, site) != TRACE_NONE)
		return group_site(&view->posted, site);
	return view->is_fenced ? view->fence.site : TRACE_NONE;
}

static void rule_of_epochs(struct view *view, int target, struct misuse_call call)
{
	uint32_t begun_at = epoch_site(view, target, call.site);

	if (begun_at != TRACE_NONE)
		misuse_add(MISUSE_IN_EPOCH, view->window, call, (struct misuse_call){ view->rank, begun_at });
	else if (view->closed_at != TRACE_NONE)
		misuse_add(MISUSE_BEHIND_EPOCH, view->window, call, (struct misuse_call){ view->rank, view->closed_at });
	else
		misuse_add(MISUSE_NO_EPOCH, view->window, call, no_call);
}

/* Returns the operation that the rank has issued last, if it is that of this call, or NULL. */
static const struct operation *latest_operation(const struct view *view, uint32_t site)
{
	const struct operation *operation = view->count > 0 ? view->pending[view->count - 1] : NULL;

	return operation && operation->at->site == site && operation->at->piece_count > 0 ? operation : NULL;
}

/* Says whether the bytes would fit in other units, which the program may have meant. */
static void write_range(char *text, size_t bytes, const struct view *view, const struct view *target,
                        const struct access *access)
{
	const struct trace_piece *last = &access->pieces[access->piece_count - 1];
	uint64_t first = access->pieces[0].first - target->base, end = last->first + last->bytes - target->base;
	uint64_t length = end - first, unit = target->unit_bytes, disp = unit ? first / unit : 0;
	int written = snprintf(text, bytes,
	                       "bytes %" PRIu64 " to %" PRIu64 " of a part of %" PRIu64 " bytes, in units of %" PRIu64 ";",
	                       first, end - 1, target->size_bytes, unit);

	if (unit > 1 && disp + length <= target->size_bytes)
		snprintf(text + written, bytes - (size_t)written, " in units of 1 they would fit");
	else if (unit != view->unit_bytes && disp * view->unit_bytes + length <= target->size_bytes)
		snprintf(text + written, bytes - (size_t)written, " in the origin's units of %" PRIu64 " they would fit",
		         view->unit_bytes);
	else if (unit > 1 && (end + unit - 1) / unit <= target->size_bytes)
		snprintf(text + written, bytes - (size_t)written, " if its size were in units they would fit");
	else
		text[written - 1] = '\0';
}

static void rule_of_range(const struct view *view, int target, struct misuse_call call)
{
	const struct operation *operation = latest_operation(view, call.site);
	const struct view *part = view_of(view->key, target);
	struct misuse_call making = { target, part ? part->made_at : TRACE_NONE };
	char detail[160] = "";

	if (operation && part && !part->is_dynamic)
		write_range(detail, sizeof(detail), view, part, operation->at);
	misuse_add_with(MISUSE_RANGE, view->window, call, making.site == TRACE_NONE ? no_call : making, detail);
}

/* The text has two names. */
static void rule_of_types(const struct view *view, const char *text, struct misuse_call call)
{
	char detail[160];

	snprintf(detail, sizeof(detail), "the origin's datatype is %.*s, the target's %.*s", REFUSED_NAME_BYTES, text,
	         REFUSED_NAME_BYTES, text + REFUSED_NAME_BYTES);
	misuse_add_with(MISUSE_TYPES, view->window, call, no_call, detail);
}

void rules_of_refused(struct view *view, const struct trace_event *event, const struct trace_piece pieces[])
{
	const struct call *latest = &view->latest;
	int target = event->rank >= 0 || latest->site != event->site ? event->rank : latest->rank;
	struct misuse_call call = call_of(view, event);

	if (event->flags == REFUSED_SYNC)
		rule_of_epochs(view, target, call);
	else if (event->flags == REFUSED_RANGE)
		rule_of_range(view, target, call);
	else if (event->flags == REFUSED_TYPES)
		rule_of_types(view, (const char *)pieces, call);
	else
		misuse_add(MISUSE_ARGUMENT, view->window, call, no_call);
}

/* ---- memory that is freed ---- */

static bool has_bytes(const struct access *access, const struct trace_event *event)
{
	for (uint32_t i = 0; access && i < access->piece_count; i++) {
		const struct trace_piece *piece = &access->pieces[i];

		if (piece->first < event->base + event->size_bytes && event->base < piece->first + piece->bytes)
			return true;
	}
	return false;
}

static void rule_of_buffers(const struct view *view, const struct trace_event *event)
{
	for (uint32_t i = 0; i < view->count; i++) {
		const struct operation *operation = view->pending[i];
		struct misuse_call call = { view->rank, operation->at->site };

		if (event->unit_bytes && operation->at->ns >= event->unit_bytes)
			continue; /* the memory may have been another block then */
		if (!operation->is_local && (has_bytes(operation->read, event) || has_bytes(operation->written, event)))
			misuse_add(MISUSE_BUFFER_FREED, view->window, call, call_of(view, event));
	}
}

void rules_of_memory(const struct trace_event *event, int rank)
{
	const struct view *view = view_of(event->object, rank);

	if (view)
		misuse_add(MISUSE_WINDOW_FREED, view->window, (struct misuse_call){ rank, view->made_at },
		           call_of(view, event));
	if (event->object)
		return;
	for (view = replaying.ranks[rank].views; view; view = view->next_of_rank)
		rule_of_buffers(view, event);
}

/* ---- threads ---- */

void rules_of_threads(const struct trace_event *event, int rank)
{
	uint32_t inside = replaying.ranks[rank].inside;

	replaying.ranks[rank].inside = event->site;
	if (event->flags & THREAD_AT_ONCE)
		misuse_add(MISUSE_AT_ONCE, NULL, (struct misuse_call){ rank, inside < event->site ? inside : event->site },
		           (struct misuse_call){ rank, inside < event->site ? event->site : inside });
	if (event->flags)
		return;
	misuse_add(MISUSE_THREAD, NULL, (struct misuse_call){ rank, event->site },
	           (struct misuse_call){ rank, replaying.ranks[rank].begun_at });
}

/* ---- windows, and the end ---- */

void rules_of_window(const struct view *view, const struct trace_event *event)
{
	if (event->base == 0 && event->size_bytes > 0 && event->size_bytes <= LOWEST_MEMORY &&
	    !(event->flags & WINDOW_DYNAMIC))
		misuse_add(MISUSE_NO_MEMORY, view->window, call_of(view, event), no_call);
}

static void add_open(enum misuse kind, const struct view *view, const struct partners *partners)
{
	for (uint32_t i = 0; i < partners->count; i++)
		misuse_add(kind, view->window, (struct misuse_call){ view->rank, partners->list[i].site }, no_call);
}

static void rules_of_view(const struct view *view)
{
	struct misuse_call all = { view->rank, view->locked_all.site }, making = { view->rank, view->made_at };

	if (replaying.traces->list[view->rank].trace->state != PART_ENDED)
		return;
	add_open(MISUSE_OPEN_REQUEST, view, &view->requests);
	if (!view->is_open)
		return;
	if (view->is_locked_all)
		misuse_add(MISUSE_HELD_LOCK, view->window, all, no_call);
	add_open(MISUSE_HELD_LOCK, view, &view->locks);
	add_open(MISUSE_OPEN_START, view, &view->started);
	add_open(MISUSE_OPEN_POST, view, &view->posted);
	misuse_add(LEAK_WINDOW, view->window, making, no_call);
}

void rules_of_end(void)
{
	for_views(rules_of_view);
	rules_of_absent_members();
}
