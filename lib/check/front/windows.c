// SPDX-License-Identifier: BSD-2-Clause
/* See write.h. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check/front/write.h"

#define PLACES 256 /* of the hash table */

static struct window *windows[PLACES];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static uint64_t changes; /* how often a window was added or removed */

/* The window that this thread has found last. It is valid until the next change. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	uint64_t changes, handle;
	struct window *window;
} found;

uint64_t hash_mix(uint64_t key, uint64_t more)
{
	key = (key ^ more) * 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 29;
}

uint64_t ranks_hash(const int ranks[], int count)
{
	uint64_t key = hash_mix(UINT32_MAX, (uint64_t)(uint32_t)count);

	for (int i = 0; i < count; i++)
		key = hash_mix(key, (uint64_t)(uint32_t)ranks[i] + 1);
	return key;
}

static struct window **list_of(uint64_t handle)
{
	return &windows[hash_mix(0, handle) % PLACES];
}

void window_put_back(struct window *window)
{
	pthread_mutex_lock(&changing);
	__atomic_add_fetch(&changes, 1, __ATOMIC_RELEASE);
	window->next = *list_of(window->handle);
	*list_of(window->handle) = window;
	pthread_mutex_unlock(&changing);
}

struct window *window_add(uint64_t handle, uint64_t number, const int ranks[], int count)
{
	struct window *window = calloc(1, sizeof(*window));
	int *copy = malloc((size_t)count * sizeof(int));

	if (!window || !copy) {
		free(window);
		free(copy);
		return NULL;
	}
	memcpy(copy, ranks, (size_t)count * sizeof(int));
	*window = (struct window){ handle, hash_mix(ranks_hash(ranks, count), number), copy, count, 0, false, NULL };
	window_put_back(window);
	return window;
}

static struct window *look_up(uint64_t handle)
{
	struct window *window;

	pthread_mutex_lock(&changing);
	window = *list_of(handle);
	while (window && window->handle != handle)
		window = window->next;
	found.changes = changes;
	found.handle = handle;
	found.window = window;
	pthread_mutex_unlock(&changing);
	return window;
}

struct window *window_find(uint64_t handle)
{
	if (!trace_is_on())
		return NULL;
	if (found.handle == handle && found.changes == __atomic_load_n(&changes, __ATOMIC_ACQUIRE))
		return found.window;
	return look_up(handle);
}

void window_await(struct place place, const struct window *window, struct trace_wait wait)
{
	if (window && window->is_oriel) {
		wait.object = window->key;
		wait.size = (uint32_t)window->count;
	} else {
		wait.kind = AWAIT_NONE;
	}
	wait_begin(place, wait);
}

struct window *window_take(uint64_t handle)
{
	struct window **at, *taken;

	if (!trace_is_on())
		return NULL;
	pthread_mutex_lock(&changing);
	__atomic_add_fetch(&changes, 1, __ATOMIC_RELEASE);
	for (at = list_of(handle); *at && (*at)->handle != handle;)
		at = &(*at)->next;
	taken = *at;
	if (taken)
		*at = taken->next;
	pthread_mutex_unlock(&changing);
	return taken;
}

bool window_was_made(void)
{
	return __atomic_load_n(&changes, __ATOMIC_ACQUIRE) > 0;
}

void window_drop(struct window *window)
{
	free(window->ranks);
	free(window);
}
