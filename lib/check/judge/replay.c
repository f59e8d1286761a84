// SPDX-License-Identifier: BSD-2-Clause
/* replay.c - what each event completes and orders; see judge.h */
#include <stdlib.h>
#include <string.h>

#include "check/judge/judge.h"
#include "oriel.h"

#define FORGET_AT 65536      /* accesses; afterwards at twice what was left */
#define ACCESSES_MAX 4000000 /* that are kept */
#define ELEMENT_BYTES 8      /* of memory, for which accumulates share a slot */
#define ELEMENTS_MAX 4096    /* of an operation with slots for each */
#define PLACES 1024          /* of the table of views */
#define EVERY ((uint64_t)-1) /* in names of slots: all targets */

/* An operation waits for one of these before it takes effect at its target. */
enum gate { GATE_NONE, GATE_POST, GATE_FENCE, GATE_LOCKS };

struct operation {
	uint64_t serial;
	uint64_t request; /* 0: none */
	int target;
	enum gate gate;
	uint64_t number;        /* of the post or fence */
	struct clock *issued;   /* NULL: the access at the target has been judged */
	struct access *at;      /* the target */
	struct access *read;    /* of the origin; NULL: nothing */
	struct access *written; /* of the origin */
	bool is_fetch;
	bool is_exclusive; /* under an exclusive lock */
	bool is_local;     /* over at the origin */
	bool is_waited;    /* over for the target, which has returned from wait */
	bool is_ended;     /* over at the target, for what the origin knows */
	bool is_closed;    /* complete has returned: the target waits */
	bool is_over;      /* over on both sides, and nothing more will end it */
	bool is_settled;
};

/* A rank that an open epoch names, and which start or post of this pair it was. */
struct partner {
	int rank;
	uint64_t number;
};

struct partners {
	struct partner *list;
	uint32_t count, capacity;
};

/* A rank's part of a window, and its epochs. */
struct view {
	uint64_t key;
	int rank;
	struct judge_window *window;
	uint64_t base, unit_bytes;
	bool is_open;
	bool is_dynamic;
	bool is_locked_all;
	bool holds_effects_back; /* the last fence had NOPRECEDE */
	uint64_t fences;
	struct partners started, posted;
	struct partners starts, posts; /* how often each rank was named */
	struct partners locks;         /* held; number 1: exclusive */
	struct operation **pending;
	uint32_t count, capacity;
	struct view *next_of_table, *next_of_rank;
};

/* A flush by request, or signals that have not been taken. */
struct promise {
	uint64_t name; /* of the request, or the signal */
	uint64_t key;
	int origin;
	int target; /* -1: all */
	bool is_local;
	uint64_t serial;      /* of the last operation that it covers */
	struct access **list; /* signals: accesses that it covers */
	uint32_t count, capacity;
};

struct promises {
	struct promise *list;
	uint32_t count, capacity;
};

struct rank_state {
	struct view *views;                /* of windows that are open */
	struct clock *meeting;             /* when the latest collective creation began */
	struct clock *receiving;           /* when the latest receive began */
	struct promises requests, signals; /* signals: sent to this rank */
};

static struct job_traces *traces;
static struct verdict *verdict;
static struct rank_state *ranks;
static struct view *table[PLACES];
static uint64_t serials, forget_at = FORGET_AT;
static uint64_t event_ns; /* of the event that is taken */
static int windows;

/* ---- views of windows ---- */

static struct view **place_of(uint64_t key, int rank)
{
	return &table[(key ^ key >> 32 ^ (uint64_t)rank * 0x9e3779b1) % PLACES];
}

static struct view *view_of(uint64_t key, int rank)
{
	struct view *view = rank < 0 || rank >= traces->size ? NULL : *place_of(key, rank);

	while (view && (view->key != key || view->rank != rank))
		view = view->next_of_table;
	return view;
}

static struct judge_window *window_of(uint64_t key)
{
	struct judge_window *window;

	for (int rank = 0; rank < traces->size; rank++) {
		if (view_of(key, rank))
			return view_of(key, rank)->window;
	}
	window = calloc(1, sizeof(*window));
	if (!window)
		program_fail("out of memory");
	window->key = key;
	window->number = ++windows;
	return window;
}

/* Other members may use the part before its owner has returned from the creation. */
static void add_view(const struct trace_event *event, int rank)
{
	struct view *view = calloc(1, sizeof(*view)), **place = place_of(event->object, rank);

	if (!view)
		program_fail("out of memory");
	view->key = event->object;
	view->rank = rank;
	view->window = window_of(event->object);
	view->window->is_shared |= event->flags & WINDOW_SHARED;
	view->base = event->base;
	view->unit_bytes = event->unit_bytes;
	view->is_dynamic = event->flags & WINDOW_DYNAMIC;
	view->next_of_table = *place;
	*place = view;
}

static void open_view(struct view *view)
{
	if (!view || view->is_open)
		return;
	view->is_open = true;
	view->next_of_rank = ranks[view->rank].views;
	ranks[view->rank].views = view;
}

/* Other members may still use the part: the view stays in the table. */
static void close_view(struct view *view)
{
	struct view **at = &ranks[view->rank].views;

	while (*at && *at != view)
		at = &(*at)->next_of_rank;
	if (*at)
		*at = view->next_of_rank;
	view->is_open = false;
}

static struct partner *find_partner(struct partners *partners, int rank)
{
	for (uint32_t i = 0; i < partners->count; i++) {
		if (partners->list[i].rank == rank)
			return &partners->list[i];
	}
	return NULL;
}

static struct partner *add_partner(struct partners *partners, int rank, uint64_t number)
{
	struct partner *partner = program_append(&partners->list, &partners->count, &partners->capacity, sizeof(*partner));

	*partner = (struct partner){ rank, number };
	return partner;
}

static void drop_partner(struct partners *partners, int rank)
{
	struct partner *partner = find_partner(partners, rank);

	if (partner)
		*partner = partners->list[--partners->count];
}

static uint64_t count_partner(struct partners *partners, int rank)
{
	struct partner *partner = find_partner(partners, rank);

	if (!partner)
		partner = add_partner(partners, rank, 0);
	return ++partner->number;
}

/* ---- slots of elements ---- */

/* Returns how many elements an access has, or ELEMENTS_MAX + 1. */
static uint64_t elements_of(const struct access *access)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < access->piece_count; i++)
		count += access->pieces[i].bytes / ELEMENT_BYTES + 2;
	return count <= ELEMENTS_MAX ? count : ELEMENTS_MAX + 1;
}

typedef void slot_call(struct slot_name name, int rank);

static void for_elements(const struct access *access, slot_call *call)
{
	for (uint32_t i = 0; i < access->piece_count; i++) {
		const struct trace_piece *piece = &access->pieces[i];
		uint64_t last = (piece->first + piece->bytes - 1) / ELEMENT_BYTES;

		for (uint64_t element = piece->first / ELEMENT_BYTES; element <= last; element++)
			call((struct slot_name){ .kind = SLOT_ELEMENT, .object = (uint64_t)access->owner, .a = element },
			     access->rank);
	}
}

static struct slot_name elements(int owner, bool large_only)
{
	return (struct slot_name){ .kind = SLOT_ELEMENTS, .object = (uint64_t)owner, .a = large_only };
}

/* A fetch of the element may learn what the origin knows when it issues an accumulate. */
static void release_elements(const struct access *access)
{
	slot_release(elements(access->owner, false), access->rank);
	if (elements_of(access) > ELEMENTS_MAX)
		slot_release(elements(access->owner, true), access->rank);
	else
		for_elements(access, slot_release);
}

static void acquire_elements(const struct access *access)
{
	if (elements_of(access) > ELEMENTS_MAX) {
		slot_acquire(elements(access->owner, false), access->rank);
		return;
	}
	slot_acquire(elements(access->owner, true), access->rank);
	for_elements(access, slot_acquire);
}

/* Loads of the target may see a value of at most 8 bytes, and take it for a message. */
static void release_polled(const struct access *access)
{
	uint64_t bytes = access->piece_count == 1 ? access->pieces[0].bytes : 0;

	if (bytes > 0 && bytes <= 8)
		slot_release((struct slot_name){ .kind = SLOT_POLLED, .object = (uint64_t)access->owner }, access->rank);
}

/* ---- operations ---- */

static struct slot_name window_slot(enum slot_kind kind, const struct view *view, uint64_t target)
{
	return (struct slot_name){ .kind = kind, .object = view->key, .a = target };
}

typedef void learn_call(void *learner, const struct clock *clock);

static void join_begin(void *learner, const struct clock *clock)
{
	struct clock **begin = learner;

	*begin = clock_joined(*begin, clock);
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
	struct clock *begin = operation->issued;

	operation->issued = NULL;
	if (operation->gate == GATE_LOCKS)
		learn_of_locks(view, operation, join_begin, &begin);
	if (operation->gate == GATE_POST)
		begin = clock_joined(begin, slot_find(post));
	if (operation->gate == GATE_FENCE)
		begin = clock_joined(begin, slot_find(fence));
	return begin;
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
		                     .how = how,
		                     .kept = 1,
		                     .is_local = true,
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
		                     .how = how_of(event),
		                     .type = event->of.type,
		                     .op = event->of.op,
		                     .kept = 1,
		                     .site = event->site,
		                     .ns = event->ns,
		                     .window = view->window,
		                     .base = target->is_dynamic ? 0 : target->base };
	struct trace_piece *moved = malloc(event->of.target_pieces * sizeof(*moved));
	struct access *made;

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
	free(moved);
	return made;
}

static bool is_passive(struct view *view, int target)
{
	return view->is_locked_all || find_partner(&view->locks, target);
}

static void take_operation(struct view *view, const struct trace_event *event, const struct trace_piece pieces[])
{
	const struct view *target = view_of(view->key, event->rank);
	struct operation *operation;

	verdict->operations++;
	if (!target || event->of.target_pieces == 0) {
		verdict->not_judged++;
		return;
	}
	operation = calloc(1, sizeof(*operation));
	if (!operation)
		program_fail("out of memory");
	*(struct operation **)program_append(&view->pending, &view->count, &view->capacity, sizeof(operation)) = operation;
	operation->serial = ++serials;
	operation->request = event->of.request;
	operation->target = event->rank;
	operation->is_fetch = event->of.access == ACCESS_FETCH;
	operation->at = make_at_target(view, target, event, pieces);
	operation->issued = clock_keep(view->rank);
	set_gate(view, operation);
	pieces += event->of.target_pieces;
	operation->read = begin_at_origin(view, event, HOW_LOAD, pieces, event->of.read_pieces);
	pieces += event->of.read_pieces;
	operation->written = begin_at_origin(view, event, HOW_STORE, pieces, event->of.written_pieces);
	if (operation->at->how == HOW_ACCUMULATE)
		release_elements(operation->at);
	if ((operation->at->how == HOW_PUT || operation->at->how == HOW_ACCUMULATE) && is_passive(view, event->rank))
		release_polled(operation->at);
	if (operation->gate == GATE_NONE)
		judge_late(view, operation);
}

/* ---- completion ---- */

/* Which operations a call completes. */
struct choice {
	int target;       /* -1: all */
	uint64_t serial;  /* of the last one */
	uint64_t request; /* 0: any */
	bool is_local;    /* at the origin only */
	bool in_started;  /* those of an epoch of start only */
	bool by_request;  /* which is done when complete has returned, and says nothing of the target then */
};

static const struct choice all_targets = { .target = -1, .serial = UINT64_MAX };

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
 * number (request_id in front/oriel_calls.c), so the number of an earlier request may end an
 * operation that is still held back. A later call ends it.
 */
static bool is_early(const struct operation *operation, const struct choice *choice)
{
	return choice->by_request && operation->gate != GATE_NONE;
}

/* They are over for all that know of this moment of the origin. */
static void end_operations(struct view *view, const struct choice *choice, uint32_t site)
{
	struct end end = { view->rank, clock_step(view->rank), site, event_ns };

	for (uint32_t i = 0; i < view->count; i++) {
		struct operation *operation = view->pending[i];

		if (!is_chosen(operation, choice))
			continue;
		if (!operation->is_local) {
			access_end(operation->read, end);
			access_end(operation->written, end);
		}
		operation->is_local = true;
		operation->is_closed |= choice->in_started;
		if (ends_at_target(operation, choice) && !operation->is_ended) {
			access_end(operation->at, end);
			operation->is_ended = true;
		}
		operation->is_over =
			operation->is_waited || (operation->is_ended && !operation->is_closed && !is_early(operation, choice));
	}
}

static void let_go(struct access *access)
{
	if (access)
		access->kept--;
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

	if (operation->is_settled)
		return;
	operation->is_settled = true;
	if (operation->is_fetch)
		acquire_elements(operation->at);
	if (operation->gate == GATE_LOCKS)
		learn_of_locks(view, operation, join_rank, &rank);
	judge_late(view, operation);
}

/* The call that completes operations has returned. */
static void settle_operations(struct view *view, bool has_posts)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < view->count; i++) {
		struct operation *operation = view->pending[i];

		if (operation->is_over || (has_posts && operation->gate == GATE_POST))
			settle_operation(view, operation);
		if (operation->is_over)
			drop_operation(operation);
		else
			view->pending[kept++] = operation;
	}
	view->count = kept;
}

static void complete(struct view *view, struct choice choice, uint32_t site)
{
	end_operations(view, &choice, site);
	settle_operations(view, choice.in_started);
}

/* ---- flushes, requests, signals ---- */

static void take_flush(struct view *view, const struct trace_event *event)
{
	struct choice choice = all_targets;

	choice.target = event->rank;
	choice.is_local = event->flags & FLUSH_LOCAL;
	complete(view, choice, event->site);
}

static struct promise *add_promise(struct promises *promises, struct promise promise)
{
	struct promise *added = program_append(&promises->list, &promises->count, &promises->capacity, sizeof(promise));

	*added = promise;
	return added;
}

static void take_request(const struct view *view, const struct trace_event *event)
{
	add_promise(&ranks[view->rank].requests, (struct promise){ .name = event->id,
	                                                           .key = view->key,
	                                                           .origin = view->rank,
	                                                           .target = event->rank,
	                                                           .is_local = event->flags & FLUSH_LOCAL,
	                                                           .serial = serials });
}

static void take_request_done(struct view *view, const struct trace_event *event)
{
	struct promises *requests = &ranks[view->rank].requests;
	struct choice choice = { .target = -1, .serial = UINT64_MAX, .request = event->id, .is_local = true };
	uint32_t kept = 0;

	complete(view, choice, event->site);
	for (uint32_t i = 0; i < requests->count; i++) {
		const struct promise *request = &requests->list[i];

		if (request->name == event->id && request->key == view->key) {
			choice = (struct choice){
				.target = request->target, .serial = request->serial, .is_local = request->is_local, .by_request = true
			};
			complete(view, choice, event->site);
		} else {
			requests->list[kept++] = *request;
		}
	}
	requests->count = kept;
}

static struct slot_name signal_slot(const struct view *view, int target, uint64_t signal)
{
	return (struct slot_name){ .kind = SLOT_SIGNAL, .object = view->key, .a = (uint64_t)target, .b = signal };
}

static struct promise *find_signal(struct promises *signals, const struct view *view, uint64_t signal)
{
	for (uint32_t i = 0; i < signals->count; i++) {
		struct promise *promise = &signals->list[i];

		if (promise->name == signal && promise->key == view->key && promise->origin == view->rank)
			return promise;
	}
	return NULL;
}

/* Adds what the origin has issued to the target since its last signal, and is not over. */
static void cover(struct promise *signal, const struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		const struct operation *operation = view->pending[i];

		if (operation->is_over || operation->target != signal->target || operation->serial <= signal->serial)
			continue;
		*(struct access **)program_append(&signal->list, &signal->count, &signal->capacity, sizeof(operation->at)) =
			operation->at;
		operation->at->kept++;
	}
	signal->serial = serials;
}

static void take_signal(const struct view *view, const struct trace_event *event)
{
	struct promises *signals = &ranks[event->rank].signals;
	struct promise *signal = find_signal(signals, view, event->id);

	slot_release(signal_slot(view, event->rank, event->id), view->rank);
	if (!signal)
		signal = add_promise(signals,
		                     (struct promise){
								 .name = event->id, .key = view->key, .origin = view->rank, .target = event->rank });
	cover(signal, view);
}

/* Ends what the signals cover, for all that know of this moment. */
static void take_signal_taken(const struct view *view, const struct trace_event *event)
{
	struct promises *signals = &ranks[view->rank].signals;
	struct end end;

	slot_acquire(signal_slot(view, view->rank, event->id), view->rank);
	end = (struct end){ view->rank, clock_step(view->rank), event->site, event_ns };
	for (uint32_t i = 0; i < signals->count; i++) {
		struct promise *signal = &signals->list[i];

		if (signal->name != event->id || signal->key != view->key)
			continue;
		for (uint32_t k = 0; k < signal->count; k++) {
			access_end(signal->list[k], end);
			let_go(signal->list[k]);
		}
		signal->count = 0;
	}
}

/* ---- locks ---- */

static void take_lock(struct view *view, const struct trace_event *event)
{
	uint64_t target = (uint64_t)event->rank;

	add_partner(&view->locks, event->rank, event->flags & LOCK_EXCLUSIVE);
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
	bool is_exclusive = lock && lock->number;
	struct choice choice = all_targets;

	choice.target = event->rank;
	end_operations(view, &choice, event->site);
	slot_release(window_slot(is_exclusive ? SLOT_EXCLUSIVE : SLOT_SHARED, view, (uint64_t)event->rank), view->rank);
	if (is_exclusive)
		slot_release(window_slot(SLOT_EXCLUSIVE, view, EVERY), view->rank);
	drop_partner(&view->locks, event->rank);
}

static void take_unlock_all(struct view *view, const struct trace_event *event)
{
	end_operations(view, &all_targets, event->site);
	slot_release(window_slot(SLOT_SHARED, view, EVERY), view->rank);
	view->is_locked_all = false;
}

/* ---- start, post, complete, wait ---- */

static struct slot_name pair_slot(enum slot_kind kind, const struct view *view, int first, int second, uint64_t number)
{
	return (struct slot_name){
		.kind = kind, .object = view->key, .a = (uint64_t)first, .b = (uint64_t)second, .c = number
	};
}

/* Takes one rank of the group; the first one begins it. */
static uint64_t take_partner(struct partners *group, struct partners *counts, const struct trace_event *event)
{
	uint64_t number;

	if (event->rank < 0 || event->id == 0)
		group->count = 0;
	if (event->rank < 0)
		return 0;
	number = count_partner(counts, event->rank);
	add_partner(group, event->rank, number);
	return number;
}

static void take_post(struct view *view, const struct trace_event *event)
{
	uint64_t number = take_partner(&view->posted, &view->posts, event);

	if (number)
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
		operation->is_over |= operation->is_local;
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
	end = (struct end){ view->rank, clock_step(view->rank), event->site, event_ns };
	for (uint32_t i = 0; i < view->posted.count; i++)
		end_epoch(view, &view->posted.list[i], end);
	view->posted.count = 0;
}

/* ---- fences, collective calls ---- */

static struct slot_name fence_slot(const struct view *view, uint64_t number)
{
	return (struct slot_name){ .kind = SLOT_FENCE_OF, .object = view->key, .a = number, .b = (uint64_t)view->rank };
}

static void take_fence(struct view *view, const struct trace_event *event)
{
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
	view->fences = event->id;
	view->holds_effects_back = event->flags & FENCE_NOPRECEDE;
}

static void take_meet(int rank)
{
	clock_drop(ranks[rank].meeting);
	ranks[rank].meeting = clock_keep(rank);
}

/* All have begun the call. A rank that has begun another one since is known until there. */
static void take_met(const struct trace_event *event, int rank, const struct trace_piece pieces[])
{
	for (uint64_t i = 0; i < event->id && i < (uint64_t)event->count * TRACE_ROOM_PIECES; i++) {
		if (pieces[i].first < (uint64_t)traces->size)
			clock_join(rank, ranks[pieces[i].first].meeting);
	}
}

static struct slot_name member_slot(const struct trace_event *event, uint64_t member)
{
	return (struct slot_name){ .kind = SLOT_MEMBER, .object = event->object, .a = event->id, .b = member };
}

static struct slot_name collective_slot(const struct trace_event *event)
{
	return (struct slot_name){ .kind = SLOT_COLLECTIVE, .object = event->object, .a = event->id };
}

static void take_enter(const struct trace_event *event, int rank)
{
	slot_release(collective_slot(event), rank);
	if (event->flags & ENTER_BY_MEMBER)
		slot_release(member_slot(event, event->base), rank);
}

static void take_leave(const struct trace_event *event, int rank)
{
	if (event->flags == 0)
		slot_acquire(collective_slot(event), rank);
	if (event->flags == LEAVE_ONE)
		slot_acquire(member_slot(event, event->base), rank);
	for (uint64_t member = 0; event->flags == LEAVE_LOWER && member < event->base; member++)
		slot_acquire(member_slot(event, member), rank);
	if (!slot_leave(collective_slot(event), event->size_bytes))
		return;
	for (uint64_t member = 0; event->flags != 0 && member < event->size_bytes; member++)
		slot_remove(member_slot(event, member));
}

static void take_free(struct view *view, const struct trace_event *event)
{
	complete(view, all_targets, event->site);
	close_view(view);
}

/* ---- messages ---- */

/* Messages of one sender to one receiver, with one communicator and tag, which keep their order. */
struct stream {
	struct slot_name name; /* of the next message to be sent */
	uint64_t received;
	struct stream *next;
};

static struct stream *streams[PLACES];

static struct stream *stream_of(const struct trace_event *event, int sender, int receiver)
{
	struct slot_name name = {
		.kind = SLOT_MESSAGE, .object = event->object, .a = (uint64_t)sender << 32 | (uint32_t)receiver, .b = event->id
	};
	struct stream **place = &streams[(name.object ^ name.a * 31 ^ name.a >> 32 ^ name.b * 7) % PLACES], *stream;

	for (stream = *place; stream; stream = stream->next) {
		if (stream->name.object == name.object && stream->name.a == name.a && stream->name.b == name.b)
			return stream;
	}
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		program_fail("out of memory");
	stream->name = name;
	stream->next = *place;
	*place = stream;
	return stream;
}

static void take_send(struct stream *stream, int rank)
{
	slot_release(stream->name, rank);
	stream->name.c++;
}

/* The rank knows what the sender did before its message of this number, or before its last one. */
static void learn_of_message(const struct stream *stream, uint64_t number, int rank)
{
	struct slot_name name = stream->name;

	if (stream->name.c == 0)
		return;
	name.c = number < stream->name.c ? number : stream->name.c - 1;
	slot_acquire(name, rank);
}

/* An earlier message is not needed any more: a later one says at least as much. */
static void take_received(struct stream *stream, const struct trace_event *event, int rank)
{
	struct slot_name name = stream->name;

	learn_of_message(stream, stream->received + event->base, rank);
	name.c = stream->received++;
	if (name.c + 1 < stream->name.c)
		slot_remove(name);
}

static void take_message(const struct trace_event *event, int rank)
{
	if (event->kind == TRACE_RECEIVE) {
		clock_drop(ranks[rank].receiving);
		ranks[rank].receiving = clock_keep(rank);
	}
	if (event->rank < 0)
		return;
	if (event->kind == TRACE_SEND)
		take_send(stream_of(event, rank, event->rank), rank);
	if (event->kind == TRACE_SEND_MET)
		clock_join(rank, ranks[event->rank].receiving);
	if (event->kind == TRACE_RECEIVED)
		take_received(stream_of(event, event->rank, rank), event, rank);
	if (event->kind == TRACE_PROBED)
		learn_of_message(stream_of(event, event->rank, rank), UINT64_MAX, rank);
}

/* ---- events ---- */

/* Events of a window that the rank has. */
static void take_of_window(struct view *view, const struct trace_event *event, const struct trace_piece pieces[])
{
	switch (event->kind) {
	case TRACE_OPERATION:
		take_operation(view, event, pieces);
		break;
	case TRACE_FLUSH:
		take_flush(view, event);
		break;
	case TRACE_REQUEST:
		take_request(view, event);
		break;
	case TRACE_REQUEST_DONE:
		take_request_done(view, event);
		break;
	case TRACE_LOCK:
		take_lock(view, event);
		break;
	case TRACE_UNLOCK:
		take_unlock(view, event);
		break;
	case TRACE_LOCK_ALL:
		view->is_locked_all = true;
		slot_acquire(window_slot(SLOT_EXCLUSIVE, view, EVERY), view->rank);
		break;
	case TRACE_UNLOCK_ALL:
		take_unlock_all(view, event);
		break;
	case TRACE_UNLOCK_END:
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
	case TRACE_SIGNAL:
		take_signal(view, event);
		break;
	case TRACE_SIGNAL_TAKEN:
		take_signal_taken(view, event);
		break;
	case TRACE_WINDOW_NAME:
		snprintf(view->window->name, sizeof(view->window->name), "%.*s", PART_NAME_BYTES - 1, (const char *)pieces);
		break;
	case TRACE_WINDOW_FREE:
		take_free(view, event);
		break;
	default:
		break;
	}
}

static void take_event(const struct trace_event *event, const struct trace_piece pieces[], int rank)
{
	struct view *view;

	if (event->kind == TRACE_MEET)
		take_meet(rank);
	if (event->kind == TRACE_WINDOW || event->kind == TRACE_MET)
		take_met(event, rank, pieces);
	if (event->kind == TRACE_WINDOW)
		open_view(view_of(event->object, rank));
	if (event->kind == TRACE_ENTER)
		take_enter(event, rank);
	if (event->kind == TRACE_LEAVE)
		take_leave(event, rank);
	if (event->kind >= TRACE_SEND && event->kind <= TRACE_PROBED)
		take_message(event, rank);
	view = view_of(event->object, rank);
	if (view)
		take_of_window(view, event, pieces);
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
	for (const struct view *view = ranks[rank].views; view; view = view->next_of_rank) {
		if (view->window->is_shared)
			slot_acquire(members_slot(view), rank);
	}
}

static void release_hidden(int rank)
{
	for (const struct view *view = ranks[rank].views; view; view = view->next_of_rank) {
		if (view->window->is_shared)
			slot_release(members_slot(view), rank);
	}
}

/* ---- forgetting ---- */

static void forget(void)
{
	struct clock *oldest = clock_of_all_times();

	for (int rank = 0; rank < traces->size; rank++) {
		struct clock *now = clock_keep(rank);

		if (traces->list[rank].at < traces->list[rank].end)
			clock_lower(oldest, now);
		clock_drop(now);
		for (const struct view *view = ranks[rank].views; view; view = view->next_of_rank) {
			for (uint32_t i = 0; i < view->count; i++)
				clock_lower(oldest, view->pending[i]->issued);
		}
	}
	accesses_forget(oldest);
	clock_drop(oldest);
	forget_at = 2 * accesses_count() > FORGET_AT ? 2 * accesses_count() : FORGET_AT;
}

void replay(struct job_traces *of, struct verdict *result)
{
	struct judge_event next;

	traces = of;
	verdict = result;
	verdict->unknown = TRACE_NONE;
	ranks = calloc((size_t)traces->size, sizeof(*ranks));
	if (!ranks)
		program_fail("out of memory");
	clocks_make(traces->size);
	traces_windows(traces, add_view);
	while (!verdict->is_full && traces_next(traces, &next)) {
		if (next.event.kind == TRACE_UNKNOWN) {
			verdict->is_ended = true;
			verdict->unknown = next.event.site;
			return;
		}
		event_ns = next.event.ns;
		acquire_hidden(next.rank);
		take_event(&next.event, next.pieces, next.rank);
		release_hidden(next.rank);
		if (accesses_count() > forget_at)
			forget();
		verdict->is_full = accesses_count() > ACCESSES_MAX;
	}
	verdict->is_cut = traces->end_ns != UINT64_MAX;
}
