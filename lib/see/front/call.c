// SPDX-License-Identifier: BSD-2-Clause
/* See call.h. */
#include "see/front/call.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "see/front/clock.h"

#define SHARED_LANE (PART_LANES - 1)
#define PLACES (2 * PART_SITES) /* of the hash table */

/* The key of a site. */
struct site_key {
	const char *name;
	const void *caller;
	uint32_t window;
	uint32_t lane;
};

static struct site_key keys[PART_SITES];
static struct call_end ends[PART_SITES];
static _Atomic uint16_t places[PLACES]; /* 0: free; else a site's index + 1 */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t sharing = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint threads;
_Thread_local struct call_thread call_thread __attribute__((tls_model("initial-exec")));

static uint32_t own_lane(void)
{
	uint32_t number;

	if (call_thread.lane_plus_1)
		return call_thread.lane_plus_1 - 1;
	number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
	call_thread.lane_plus_1 = (number < SHARED_LANE ? number : SHARED_LANE) + 1;
	if (number >= SHARED_LANE)
		call_thread.duties |= DUTY_ALWAYS;
	return call_thread.lane_plus_1 - 1;
}

static bool is_equal(const struct site_key *a, const struct site_key *b)
{
	return a->caller == b->caller && a->window == b->window && a->lane == b->lane && a->name == b->name;
}

static uint32_t hash(const struct site_key *key)
{
	uint64_t bits = (uint64_t)(uintptr_t)key->caller ^ (uint64_t)(uintptr_t)key->name << 20 ^
	                (uint64_t)key->window << 8 ^ key->lane;

	return (uint32_t)(bits * 0x9e3779b97f4a7c15ULL >> 32) % PLACES;
}

/* Returns the site's index, or PART_NONE and in *place where it would be. */
static uint32_t find(const struct site_key *key, uint32_t *place)
{
	uint32_t at = hash(key), index;

	/* There are more places than sites, so a free one ends the search. Pairs with add. */
	while ((index = atomic_load_explicit(&places[at], memory_order_acquire)) != 0) {
		if (is_equal(&keys[index - 1], key))
			return index - 1;
		at = (at + 1) % PLACES;
	}
	*place = at;
	return PART_NONE;
}

static uint32_t add(struct part *part, const struct site_key *key)
{
	uint32_t place, index;
	struct part_site *site;

	pthread_mutex_lock(&adding);
	index = find(key, &place);
	if (index == PART_NONE && part->header.site_count < PART_SITES) {
		index = part->header.site_count;
		site = &part->sites[index];
		keys[index] = *key;
		ends[index] = (struct call_end){ .target = -1, .offset = CALL_NO_DISP };
		site->object = object_find(part, key->caller, &site->offset);
		site->window = key->window;
		snprintf(site->call, sizeof(site->call), "%s", key->name);
		/* pairs with find */
		__atomic_store_n(&part->header.site_count, index + 1, __ATOMIC_RELEASE);
		atomic_store_explicit(&places[place], (uint16_t)(index + 1), memory_order_release);
	}
	pthread_mutex_unlock(&adding);
	return index;
}

/* ---- calls that others may wait for ---- */

/* Fences of windows that are not recorded are not told apart. */
static bool is_meeting(const struct call_members *members)
{
	return members->event == EVENT_COLLECTIVE || (members->event == EVENT_FENCE && members->window != PART_NONE);
}

static void begin(struct call_members *members, uint64_t begun)
{
	const struct part *part = part_of_process();

	members->begun = begun;
	members->begun_ns = clock_ns(begun);
	notes_add(members->event, members->window, members->number, begun);
	if (part && is_meeting(members))
		meeting_begin(members->window == PART_NONE ? 0 : part->windows[members->window].key, members->number,
		              members->begun_ns);
	waits_begin(members);
}

void call_begins(const struct call *call, enum part_event event)
{
	struct call_members members = { .window = call_window(call), .event = event };
	const struct part *part = part_of_process();

	if (!part)
		return;
	members.number = window_count(members.window, event);
	members.ranks = window_ranks(members.window, &members.count);
	if (members.window == PART_NONE)
		members.count = part->header.size;
	call_thread.duties &= ~(uint32_t)DUTY_MEETING;
	begin(&members, call->begun);
}

/* The member finds the note by its own rank. */
void signal_begins(const struct call *call, int target_rank)
{
	int count;
	uint32_t window = call_window(call);
	const int *ranks = window_ranks(window, &count);

	if (target_rank >= 0 && target_rank < count)
		notes_add(EVENT_SIGNAL, window, (uint64_t)ranks[target_rank] + 1, call->begun);
}

/* All members know a creation by the key that its window will have. */
void creation_begins(const struct call *call, const int ranks[], int count)
{
	struct call_members members = { .window = PART_NONE, .event = EVENT_COLLECTIVE, .ranks = ranks, .count = count };

	window_take_number(0);
	if (!ranks)
		return;
	members.number = window_next_key(ranks, count);
	begin(&members, call->begun);
}

/* The end of a window is known by the key's complement. */
void removal_begins(const struct call *call)
{
	struct call_members members = { .window = PART_NONE, .event = EVENT_COLLECTIVE };
	const struct part *part = part_of_process();
	uint32_t window = call_window(call);

	if (!part || window == PART_NONE)
		return;
	members.number = ~part->windows[window].key;
	members.ranks = window_ranks(window, &members.count);
	begin(&members, call->begun);
}

/* ---- calls ---- */

/* Calls that found no room. */
static struct part_site lost = { .object = PART_NONE, .window = PART_NONE };

static bool is_shared(void)
{
	return call_thread.lane_plus_1 == SHARED_LANE + 1;
}

static void lock_shared(void)
{
	if (is_shared())
		pthread_mutex_lock(&sharing);
}

static void unlock_shared(void)
{
	if (is_shared())
		pthread_mutex_unlock(&sharing);
}

/* Returns the site's index, which it makes. PART_NONE: there is no room, and the call is lost. */
static uint32_t find_or_add(struct part *part, const struct site_key *key)
{
	uint32_t place, index = find(key, &place);

	if (index == PART_NONE)
		index = add(part, key);
	if (index == PART_NONE)
		__atomic_fetch_add(&part->header.lost, 1, __ATOMIC_RELAXED);
	return index;
}

static void change_target(struct part_site *site, struct call_end *end, int target)
{
	int rank = window_rank(site->window, target);

	end->target = target;
	end->unit = window_unit(site->window);
	end->offset = CALL_NO_DISP;
	site->targets |= rank < 0 ? 0 : 1ULL << rank % 64;
}

static void count_at(struct part_site *site, struct call_end *end, const struct call *call, uint64_t disp)
{
	lock_shared();
	call_count(site, call->bytes);
	if (call->target >= 0 && site->window != PART_NONE) {
		if (end->target != call->target)
			change_target(site, end, call->target);
		if (disp != CALL_NO_DISP)
			call_follow(site, end, disp, call->bytes);
	}
	unlock_shared();
}

/* Finds the call's site, and counts the call there. */
static void count(struct part *part, struct call *call, uint64_t disp, const char *name, const void *caller)
{
	uint64_t removals = __atomic_load_n(&window_removals, __ATOMIC_RELAXED);
	struct site_key key = { name, caller, call_window(call), own_lane() };
	uint32_t index = find_or_add(part, &key);

	call->site = &lost;
	if (index == PART_NONE)
		return;
	call->site = &part->sites[index];
	count_at(call->site, &ends[index], call, disp);
	if (!(call_thread.duties & DUTY_ALWAYS))
		*call_recent(caller) = (struct call_recent){ caller, name, call->handle, removals, call->site, &ends[index] };
}

struct call call_enter_early(void)
{
	struct part *part = part_of_process();
	struct call call = { .target = -1, .begun = clock_ticks() };

	if (part)
		call_go_inside(part, call.begun);
	return call;
}

void call_find(struct call *call, const char *name, uint64_t handle, const void *caller)
{
	struct part *part = part_of_process();

	call->handle = handle;
	if (part)
		count(part, call, CALL_NO_DISP, name, caller);
}

struct call call_enter_any(const char *name, uint64_t handle, int target, uint64_t disp, uint64_t bytes,
                           const void *caller)
{
	struct call call = call_enter_early();
	struct part *part = part_of_process();

	call.handle = handle;
	call.bytes = bytes;
	call.target = target;
	call_thread.duties |= counted_part ? 0 : DUTY_ALWAYS;
	if (part)
		count(part, &call, disp, name, caller);
	return call;
}

void call_trace(const struct call *call, uint64_t ended)
{
	const struct part *part = part_of_process();

	trace_add(call_thread.lane_plus_1 - 1, (struct part_entry){ .begun = call->begun,
	                                                            .ended = ended,
	                                                            .bytes = call->bytes,
	                                                            .rank = window_rank(call->site->window, call->target),
	                                                            .site = (uint16_t)(call->site - part->sites),
	                                                            .kind = PART_CALL });
}

/* The waits of a call that found no room are no other call's. */
static void take(struct part *part, const struct call *call)
{
	bool is_lost = call->site == &lost;
	uint64_t ended;

	if (is_lost)
		waits_forget();
	else if (call_thread.duties & DUTY_WAITS)
		waits_take(part, (uint32_t)(call->site - part->sites), call_thread.lane_plus_1 - 1, call->begun);
	ended = clock_ticks();
	call_add_time(part, call, ended);
	if (call_thread.duties & DUTY_MEETING)
		meeting_end(part, ended);
	if (trace_is_on() && !is_lost)
		call_trace(call, ended);
}

int call_leave_any(const struct call *call, int rc)
{
	struct part *part = part_of_process();

	if (!part || !call->site)
		return rc;
	if (rc)
		meeting_cancel();
	lock_shared();
	take(part, call);
	unlock_shared();
	return rc;
}
