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
#define RECENTS 8

/* The key of a site. */
struct site_key {
	const char *name;
	const void *caller;
	uint32_t window;
	uint32_t lane;
};

#define NO_TARGET (-1)

/* The end, at the target, of a site's last call. */
struct site_end {
	int target;    /* NO_TARGET: none yet */
	int rank;      /* the target's, in the job */
	uint64_t unit; /* of displacements */
	uint64_t offset;
};

/* A site that the thread has called from. */
struct recent {
	const char *name;
	const void *caller; /* NULL: none yet */
	struct part_site *site;
	struct site_end *end;
	uint32_t window;
	uint32_t index;
} __attribute__((aligned(64)));

static struct site_key keys[PART_SITES];
static struct site_end ends[PART_SITES];
static _Atomic uint16_t places[PLACES]; /* 0: free; else a site's index + 1 */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t sharing = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint threads;
static _Thread_local uint32_t lane_plus_1 __attribute__((tls_model("initial-exec")));
static _Thread_local struct recent recents[RECENTS] __attribute__((tls_model("initial-exec")));
_Thread_local uint32_t call_duties __attribute__((tls_model("initial-exec")));

static uint32_t own_lane(void)
{
	uint32_t number;

	if (lane_plus_1)
		return lane_plus_1 - 1;
	number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
	lane_plus_1 = (number < SHARED_LANE ? number : SHARED_LANE) + 1;
	if (number >= SHARED_LANE || trace_is_on() || !clock_is_counter)
		call_duties |= DUTY_ALWAYS;
	return lane_plus_1 - 1;
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
		ends[index] = (struct site_end){ .target = NO_TARGET, .offset = CALL_NO_DISP };
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

static uint32_t size_class(uint64_t bytes)
{
	uint32_t class = bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;

	return class < PART_SIZES ? class : PART_SIZES - 1;
}

static inline void go_outside(struct part *part, const struct call *call, uint64_t ended)
{
	/* pairs with notes_inside */
	__atomic_store_n(&part->presence.inside, part->presence.inside + ended - call->begun, __ATOMIC_RELAXED);
	__atomic_store_n(&part->presence.entered, 0, __ATOMIC_RELAXED);
	part->presence.left = ended;
}

/* Counts a call that has ended. */
static inline void count(struct part *part, struct part_site *site, const struct call *call, uint64_t bytes,
                         uint64_t ended)
{
	site->count++;
	site->bytes += bytes;
	site->ticks += ended - call->begun;
	site->sizes[size_class(bytes)]++;
	go_outside(part, call, ended);
}

static void change_target(struct part_site *site, struct site_end *end, const struct call *call)
{
	end->target = call->target;
	end->rank = window_rank(call->window, call->target);
	end->unit = window_unit(call->window);
	end->offset = CALL_NO_DISP;
	site->targets |= end->rank < 0 ? 0 : 1ULL << end->rank % 64;
}

/* Notes whether the call goes on where the one before it, to the same target, ended. */
static inline void follow(struct part_site *site, struct site_end *end, const struct call *call, uint64_t bytes)
{
	uint64_t offset = call->disp * end->unit;

	if (call->disp == CALL_NO_DISP)
		return;
	site->followed += offset == end->offset;
	end->offset = offset + bytes;
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
	struct call_members members = { .window = call->window, .event = event };
	const struct part *part = part_of_process();

	if (!part)
		return;
	members.number = window_count(call->window, event);
	members.ranks = window_ranks(call->window, &members.count);
	if (call->window == PART_NONE)
		members.count = part->header.size;
	call_duties &= ~(uint32_t)DUTY_MEETING;
	begin(&members, call->begun);
}

/* The member finds the note by its own rank. */
void signal_begins(const struct call *call, int target_rank)
{
	int count;
	const int *ranks = window_ranks(call->window, &count);

	if (target_rank >= 0 && target_rank < count)
		notes_add(EVENT_SIGNAL, call->window, (uint64_t)ranks[target_rank] + 1, call->begun);
}

/* All members know a creation by the key that its window will have. */
void creation_begins(const struct call *call, const int ranks[], int count)
{
	struct call_members members = { .window = PART_NONE, .event = EVENT_COLLECTIVE, .ranks = ranks, .count = count };

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

	if (!part || call->window == PART_NONE)
		return;
	members.number = ~part->windows[call->window].key;
	members.ranks = window_ranks(call->window, &members.count);
	begin(&members, call->begun);
}

/* ---- calls ---- */

/* Finds the site of a call, and keeps it. Returns false if there is no room: the call is lost. */
static bool search(struct part *part, struct recent *recent, const struct call *call)
{
	struct site_key key = { call->name, call->caller, call->window, own_lane() };
	uint32_t place, index = find(&key, &place);

	if (index == PART_NONE)
		index = add(part, &key);
	if (index == PART_NONE) {
		__atomic_fetch_add(&part->header.lost, 1, __ATOMIC_RELAXED);
		return false;
	}
	*recent = (struct recent){ key.name, key.caller, &part->sites[index], &ends[index], key.window, index };
	return true;
}

static inline struct recent *recent_of(const struct call *call)
{
	return &recents[(uintptr_t)call->caller / 8 % RECENTS];
}

static inline bool is_recent(const struct recent *recent, const struct call *call)
{
	return recent->caller == call->caller && recent->name == call->name && recent->window == call->window;
}

/* Ends a call that found no room. Its waits are no other call's. */
static void lose(struct part *part, const struct call *call, uint64_t ended)
{
	waits_forget();
	go_outside(part, call, ended);
	if (call_duties & DUTY_MEETING)
		meeting_end(part, ended);
}

static void take(struct part *part, const struct recent *recent, const struct call *call, uint64_t bytes)
{
	bool has_target = call->target >= 0 && call->window != PART_NONE;
	uint64_t ended;

	if (call_duties & DUTY_WAITS)
		waits_take(part, recent->index, lane_plus_1 - 1, call->begun);
	ended = clock_ticks();
	count(part, recent->site, call, bytes, ended);
	if (has_target && recent->end->target != call->target)
		change_target(recent->site, recent->end, call);
	if (has_target)
		follow(recent->site, recent->end, call, bytes);
	if (call_duties & DUTY_MEETING)
		meeting_end(part, ended);
	if (part->header.chunk_count)
		trace_add(lane_plus_1 - 1, &(struct part_entry){ .begun = call->begun,
		                                                 .ended = ended,
		                                                 .bytes = bytes,
		                                                 .rank = has_target ? recent->end->rank : -1,
		                                                 .site = (uint16_t)recent->index,
		                                                 .kind = PART_CALL });
}

/* Records a call of any kind. */
static __attribute__((noinline)) int leave_any(const struct call *call, uint64_t bytes, int rc)
{
	struct recent *recent = recent_of(call);
	struct part *part = part_of_process();

	if (rc)
		meeting_cancel();
	if (!is_recent(recent, call) && !search(part, recent, call)) {
		lose(part, call, clock_ticks());
		return rc;
	}
	if (lane_plus_1 == SHARED_LANE + 1)
		pthread_mutex_lock(&sharing);
	take(part, recent, call, bytes);
	if (lane_plus_1 == SHARED_LANE + 1)
		pthread_mutex_unlock(&sharing);
	return rc;
}

/* Most calls come from a site that the thread has just called from, and do not wait. */
int call_leave(const struct call *call, uint64_t bytes, int rc)
{
	const struct recent *recent = recent_of(call);
	struct part *part = part_of_process();

	if (!part)
		return rc;
	if (call_duties || rc || !is_recent(recent, call) || recent->end->target != call->target)
		return leave_any(call, bytes, rc);
	count(part, recent->site, call, bytes, clock_counter());
	follow(recent->site, recent->end, call, bytes);
	return 0;
}
