// SPDX-License-Identifier: BSD-2-Clause
/* See judge.h. */
#include <stdlib.h>
#include <string.h>

#include "check/judge/judge.h"

#define PLACES_AT_FIRST 4096

/* The times of a clock: of each strand, of each rank, and, by calls, of each strand once more. */
static int strand_count, by_calls, time_count;
static struct clock **clocks; /* of the strands, as they are now: those of number 0 come first */

/* A rank's. */
static struct {
	int acting;         /* the strand whose event is taken */
	int first, count;   /* its further strands */
	uint64_t own_times; /* that have been */
} * ranks;

/* ---- clocks ---- */

static struct clock *new_clock(const struct clock *from)
{
	size_t bytes = sizeof(struct clock) + (size_t)time_count * sizeof(uint64_t);
	struct clock *clock = calloc(1, bytes);

	if (!clock)
		program_fail("out of memory");
	if (from)
		memcpy(clock, from, bytes);
	clock->users = 1;
	return clock;
}

void clocks_make(const struct job_traces *traces, bool are_shared)
{
	strand_count = traces->size;
	ranks = calloc((size_t)traces->size, sizeof(*ranks));
	if (!ranks)
		program_fail("out of memory");
	for (int i = 0; i < traces->size; i++) {
		ranks[i].acting = i;
		ranks[i].first = strand_count;
		ranks[i].count = (int)traces->list[i].trace->strand_count - 1;
		strand_count += ranks[i].count;
	}
	by_calls = strand_count + traces->size;
	time_count = by_calls + (are_shared ? strand_count : 0);
	clocks = calloc((size_t)strand_count, sizeof(*clocks));
	if (!clocks)
		program_fail("out of memory");
	for (int i = 0; i < strand_count; i++)
		clocks[i] = new_clock(NULL);
}

void clock_act(int rank, uint32_t strand)
{
	ranks[rank].acting = strand ? ranks[rank].first + (int)strand - 1 : rank;
}

int clock_index(int rank)
{
	return ranks[rank].acting;
}

bool clock_is_split(int rank)
{
	return ranks[rank].count > 0;
}

static struct clock **clock_of(int rank)
{
	return &clocks[ranks[rank].acting];
}

struct clock *clock_keep(int rank)
{
	struct clock *clock = *clock_of(rank);

	clock->users++;
	return clock;
}

void clock_drop(struct clock *clock)
{
	if (clock && --clock->users == 0)
		free(clock);
}

/* Returns a clock that nothing else refers to, in place of this one. */
static struct clock *own(struct clock **clock)
{
	struct clock *copy;

	if ((*clock)->users == 1)
		return *clock;
	copy = new_clock(*clock);
	clock_drop(*clock);
	*clock = copy;
	return copy;
}

static bool is_known(const struct clock *clock, const struct clock *other, int count)
{
	for (int i = 0; i < count; i++) {
		if (other->times[i] > clock->times[i])
			return false;
	}
	return true;
}

/* Joins the first times of the other clock. */
static void join_first(struct clock **clock, const struct clock *other, int count)
{
	struct clock *joined;

	if (!other || *clock == other || is_known(*clock, other, count))
		return;
	joined = own(clock);
	for (int i = 0; i < count; i++) {
		if (other->times[i] > joined->times[i])
			joined->times[i] = other->times[i];
	}
}

static void join(struct clock **clock, const struct clock *other)
{
	join_first(clock, other, time_count);
}

void clock_join(int rank, const struct clock *other)
{
	join(clock_of(rank), other);
}

void clock_join_hidden(int rank, const struct clock *other)
{
	join_first(clock_of(rank), other, by_calls);
}

struct clock *clock_of_all(int rank)
{
	struct clock *all = clock_keep(rank);

	join(&all, clocks[rank]);
	for (int i = 0; i < ranks[rank].count; i++)
		join(&all, clocks[ranks[rank].first + i]);
	return all;
}

bool clock_is_same(const struct clock *a, const struct clock *b)
{
	return a == b || memcmp(a->times, b->times, (size_t)time_count * sizeof(a->times[0])) == 0;
}

struct clock *clock_joined(struct clock *clock, const struct clock *other)
{
	join(&clock, other);
	return clock;
}

/* Copies a time of a strand, also that by calls. */
static void copy_time(struct clock *to, const struct clock *from, int index)
{
	to->times[index] = from->times[index];
	if (time_count > by_calls)
		to->times[by_calls + index] = from->times[by_calls + index];
}

struct clock *clock_joined_of_others(struct clock *clock, const struct clock *other, int rank)
{
	struct clock *joined;

	if (!other || is_known(clock, other, time_count))
		return clock;
	joined = clock_joined(new_clock(clock), other);
	copy_time(joined, clock, rank);
	for (int i = 0; i < ranks[rank].count; i++)
		copy_time(joined, clock, ranks[rank].first + i);
	joined->times[clock_index_of_own(rank)] = clock->times[clock_index_of_own(rank)];
	clock_drop(clock);
	return joined;
}

void clock_lower(struct clock *clock, const struct clock *other)
{
	for (int i = 0; other && i < time_count; i++) {
		if (other->times[i] < clock->times[i])
			clock->times[i] = other->times[i];
	}
}

struct clock *clock_of_all_times(void)
{
	struct clock *clock = new_clock(NULL);

	for (int i = 0; i < time_count; i++)
		clock->times[i] = UINT64_MAX;
	return clock;
}

void clock_spread(int rank)
{
	struct clock *now = clock_keep(rank);

	join(&clocks[rank], now);
	for (int i = 0; i < ranks[rank].count; i++)
		join(&clocks[ranks[rank].first + i], now);
	clock_drop(now);
}

uint64_t clock_step(int rank)
{
	struct clock *clock = own(clock_of(rank));
	uint64_t time = ++clock->times[clock_index(rank)];

	if (time_count > by_calls)
		clock->times[by_calls + clock_index(rank)] = time;
	return time;
}

uint64_t clock_time(int rank)
{
	return (*clock_of(rank))->times[clock_index(rank)];
}

bool clock_knows_by_calls(const struct clock *clock, int index, uint64_t time)
{
	return clock_knows(clock, index < strand_count ? by_calls + index : index, time);
}

int clock_index_of_own(int rank)
{
	return strand_count + rank;
}

uint64_t clock_step_own(int rank)
{
	return own(clock_of(rank))->times[clock_index_of_own(rank)] = ++ranks[rank].own_times;
}

void clock_join_own(int rank, int other)
{
	int index = clock_index_of_own(other);
	uint64_t latest = ranks[other].own_times;

	if ((*clock_of(rank))->times[index] < latest)
		own(clock_of(rank))->times[index] = latest;
}

/* ---- slots ---- */

struct slot {
	struct slot_name name;
	struct clock *clock;
	uint64_t left; /* members that have taken what they need */
	struct slot *next;
};

static struct slot **slots;
static uint64_t place_count, slot_count;

static bool is_same(const struct slot_name *a, const struct slot_name *b)
{
	return a->kind == b->kind && a->object == b->object && a->a == b->a && a->b == b->b && a->c == b->c;
}

static uint64_t hash(const struct slot_name *name)
{
	uint64_t bits = name->object * 0x9e3779b97f4a7c15ULL + name->a;

	bits = (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9ULL + name->b;
	bits = (bits ^ bits >> 29) * 0x94d049bb133111ebULL + name->c + ((uint64_t)name->kind << 32);
	return (bits ^ bits >> 32) & (place_count - 1);
}

static void grow(void)
{
	struct slot **old = slots;
	uint64_t old_count = place_count;

	place_count = old_count ? 2 * old_count : PLACES_AT_FIRST;
	slots = calloc(place_count, sizeof(*slots));
	if (!slots)
		program_fail("out of memory");
	for (uint64_t i = 0; i < old_count; i++) {
		for (struct slot *slot = old[i], *next; slot; slot = next) {
			uint64_t at = hash(&slot->name);

			next = slot->next;
			slot->next = slots[at];
			slots[at] = slot;
		}
	}
	free(old);
}

uint64_t slots_count(void)
{
	return slot_count;
}

static struct slot *find(const struct slot_name *name)
{
	struct slot *slot = place_count ? slots[hash(name)] : NULL;

	while (slot && !is_same(&slot->name, name))
		slot = slot->next;
	return slot;
}

static struct slot *add(const struct slot_name *name)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		program_fail("out of memory");
	if (slot_count >= place_count)
		grow();
	slot_count++;
	slot->name = *name;
	slot->next = slots[hash(name)];
	slots[hash(name)] = slot;
	return slot;
}

void slot_release(struct slot_name name, int rank)
{
	struct slot *slot = find(&name);

	if (!slot)
		slot = add(&name);
	if (slot->clock && !is_known(*clock_of(rank), slot->clock, time_count)) {
		join(&slot->clock, *clock_of(rank));
		return;
	}
	clock_drop(slot->clock);
	slot->clock = clock_keep(rank);
}

void slot_remove(struct slot_name name)
{
	struct slot **at = place_count ? &slots[hash(&name)] : NULL, *removed;

	while (at && *at && !is_same(&(*at)->name, &name))
		at = &(*at)->next;
	removed = at ? *at : NULL;
	if (!removed)
		return;
	*at = removed->next;
	clock_drop(removed->clock);
	free(removed);
	slot_count--;
}

bool slot_leave(struct slot_name name, uint64_t members)
{
	struct slot *slot = find(&name);

	if (!slot || ++slot->left < members)
		return false;
	slot_remove(name);
	return true;
}

const struct clock *slot_find(struct slot_name name)
{
	const struct slot *slot = find(&name);

	return slot ? slot->clock : NULL;
}
