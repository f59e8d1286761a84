// SPDX-License-Identifier: BSD-2-Clause
/* See call.h. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "see/front/call.h"

/* The number of the window that the thread makes; 0: none yet. */
static _Thread_local uint64_t new_number __attribute__((tls_model("initial-exec")));

/* A window that can be called with. */
struct open_window {
	_Atomic uint64_t handle; /* 0: free */
	uint32_t index;          /* in the part */
};

static struct open_window open_windows[PART_WINDOWS];
/* The windows of the part. */
static struct {
	uint64_t members; /* hash of their ranks */
	int *ranks;
	int count;
	uint64_t unit;
} made[PART_WINDOWS];
static _Atomic uint64_t events[PART_WINDOWS + 1][EVENT_COUNT]; /* the last: of the job */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
_Thread_local struct window_last window_last __attribute__((tls_model("initial-exec"))) = { .index = PART_NONE };
uint64_t window_removals;

static uint32_t find_place(uint64_t handle)
{
	for (uint32_t i = 0; i < PART_WINDOWS; i++) {
		if (atomic_load_explicit(&open_windows[i].handle, memory_order_acquire) == handle)
			return i;
	}
	return PART_NONE;
}

uint32_t window_search(uint64_t handle)
{
	uint64_t removals = __atomic_load_n(&window_removals, __ATOMIC_RELAXED);
	uint32_t place = handle ? find_place(handle) : PART_NONE;

	if (place == PART_NONE)
		return PART_NONE;
	window_last = (struct window_last){ handle, removals, open_windows[place].index };
	return window_last.index;
}

static uint64_t mix(uint64_t key, uint64_t more)
{
	key = (key ^ more) * 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 29;
}

static uint64_t hash_ranks(const int ranks[], int count)
{
	uint64_t key = 1;

	for (int i = 0; i < count; i++)
		key = mix(key, (uint64_t)(uint32_t)ranks[i] + 1);
	return key;
}

static uint64_t times_made(const struct part *part, uint64_t members)
{
	uint64_t times = 0;

	for (uint32_t i = 0; i < part->header.window_count; i++)
		times += made[i].members == members;
	return times;
}

void window_take_number(uint64_t number)
{
	new_number = number;
}

uint64_t window_next_key(const int ranks[], int count)
{
	uint64_t members = hash_ranks(ranks, count);
	struct part *part = part_of_process();

	return part ? mix(members, times_made(part, members) + 1) : 0;
}

static void keep_ranks(uint32_t index, const int ranks[], int count)
{
	made[index].members = hash_ranks(ranks, count);
	made[index].ranks = malloc((size_t)count * sizeof(int));
	if (!made[index].ranks)
		return;
	memcpy(made[index].ranks, ranks, (size_t)count * sizeof(int));
	made[index].count = count;
}

static void add_entry(struct part *part, uint64_t handle, const char *kind, uint64_t unit, const int ranks[], int count)
{
	uint32_t place = find_place(0), index = part->header.window_count;
	struct part_window *window = &part->windows[index];

	window->key = window_next_key(ranks, count);
	window->number = new_number;
	keep_ranks(index, ranks, count);
	made[index].unit = unit;
	snprintf(window->kind, sizeof(window->kind), "%s", kind);
	__atomic_store_n(&part->header.window_count, index + 1, __ATOMIC_RELEASE);
	/* pairs with find_place */
	open_windows[place].index = index;
	atomic_store_explicit(&open_windows[place].handle, handle, memory_order_release);
}

void window_add(uint64_t handle, const char *kind, uint64_t unit, const int ranks[], int count)
{
	struct part *part = part_of_process();

	if (!part)
		return;
	pthread_mutex_lock(&changing);
	if (part->header.window_count < PART_WINDOWS)
		add_entry(part, handle, kind, unit, ranks, count);
	else
		part->header.lost++;
	pthread_mutex_unlock(&changing);
}

void window_name(uint64_t handle, const char *name)
{
	uint32_t index = window_find(handle);
	struct part *part = part_of_process();

	if (part && index != PART_NONE)
		snprintf(part->windows[index].name, PART_NAME_BYTES, "%s", name);
}

void window_remove(uint64_t handle)
{
	uint32_t place;

	pthread_mutex_lock(&changing);
	__atomic_store_n(&window_removals, window_removals + 1, __ATOMIC_RELAXED);
	place = find_place(handle);
	/* pairs with find_place */
	if (handle && place != PART_NONE)
		atomic_store_explicit(&open_windows[place].handle, 0, memory_order_release);
	pthread_mutex_unlock(&changing);
}

const int *window_ranks(uint32_t window, int *count)
{
	*count = window == PART_NONE ? 0 : made[window].count;
	return window == PART_NONE ? NULL : made[window].ranks;
}

uint64_t window_unit(uint32_t window)
{
	return made[window].unit;
}

int window_rank(uint32_t window, int member)
{
	int count;
	const int *ranks = window_ranks(window, &count);

	return ranks && member >= 0 && member < count ? ranks[member] : -1;
}

static _Atomic uint64_t *counter(uint32_t window, enum part_event event)
{
	return &events[window == PART_NONE ? PART_WINDOWS : window][event];
}

uint64_t window_count(uint32_t window, enum part_event event)
{
	return atomic_fetch_add_explicit(counter(window, event), 1, memory_order_relaxed) + 1;
}
