// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory.c - free and its like, in front of the C library: memory that is still in use; see write.h
 *
 * DESIGN NOTES
 *
 * Most memory that is freed is of no concern. So free looks only whether a window lies in the
 * block, and whether an operation of late has had its buffer there. Of the latter the lines of 64
 * bytes with a buffer's first byte are kept, in a table in which lines may collide: the judge knows
 * what is still in use. An entry counts until some calls have completed operations.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "see/front/behind.h"
#include "base/util.h"
#include "check/front/loads.h"
#include "check/front/write.h"

#define LINES_LOOKED_UP 4096 /* of a block; a larger one may always have a buffer */
#define COMPLETIONS_KEPT 8

struct watched {
	uint64_t key, first, end;
	struct watched *next;
};

static struct watched *windows; /* this library's own free looks at them: none is freed under the lock */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
struct memory_table memory_table;

/* ---- what is in use ---- */

void memory_watch(uint64_t key, uint64_t first, uint64_t bytes)
{
	struct watched *added = bytes ? malloc(sizeof(*added)) : NULL;

	if (!added)
		return;
	pthread_mutex_lock(&changing);
	*added = (struct watched){ key, first, first + bytes, windows };
	__atomic_store_n(&windows, added, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&changing);
}

void memory_unwatch(uint64_t key)
{
	struct watched **at, *removed;

	pthread_mutex_lock(&changing);
	for (at = &windows; *at && (*at)->key != key;)
		at = &(*at)->next;
	removed = *at;
	if (removed)
		__atomic_store_n(at, removed->next, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&changing);
	free(removed);
}

/* ---- what is freed ---- */

/* A window may reach over many blocks, such as one of all addresses: each is in use by itself. */
static bool is_inside(const struct watched *window, uint64_t first, uint64_t bytes)
{
	return bytes ? window->first >= first && window->end <= first + bytes : window->first == first;
}

/* Returns the key of a window that lies in this block, or 0. */
static uint64_t window_there(uint64_t first, uint64_t bytes)
{
	uint64_t key = 0;

	if (!__atomic_load_n(&windows, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&changing);
	for (const struct watched *window = windows; window && !key; window = window->next) {
		if (is_inside(window, first, bytes))
			key = window->key;
	}
	pthread_mutex_unlock(&changing);
	return key;
}

/* Returns whether such a number is one of late. */
static bool is_recent(const uint32_t *at)
{
	uint32_t number = __atomic_load_n(at, __ATOMIC_RELAXED);

	return number && __atomic_load_n(&memory_table.completions, __ATOMIC_RELAXED) + 1 - number < COMPLETIONS_KEPT;
}

static bool may_have_buffer(uint64_t first, uint64_t end)
{
	if (!is_recent(&memory_table.latest))
		return false;
	if ((end - first) / MEMORY_LINE_BYTES > LINES_LOOKED_UP)
		return true;
	for (uint64_t at = first; at < end + MEMORY_LINE_BYTES - 1; at += MEMORY_LINE_BYTES) {
		if (is_recent(memory_line(at)))
			return true;
	}
	return false;
}

static void add_freed(struct place place, uint64_t key, uint64_t first, uint64_t bytes, uint64_t begun_ns)
{
	trace_add(place, (struct trace_event){ .kind = TRACE_FREED,
	                                       .object = key,
	                                       .rank = -1,
	                                       .base = first,
	                                       .size_bytes = bytes,
	                                       .unit_bytes = begun_ns });
}

void memory_freed(struct place place, uint64_t first, uint64_t bytes)
{
	uint64_t key = window_there(first, bytes);

	if (key)
		add_freed(place, key, first, bytes, 0);
	if (may_have_buffer(first, first + bytes))
		add_freed(place, 0, first, bytes, 0);
}

/* Another thread may have been given the block since: both times it must be that of this window. */
static void add_moved(struct place place, uint64_t first, uint64_t bytes, uint64_t key, uint64_t begun_ns)
{
	if (key && key == window_there(first, bytes))
		add_freed(place, key, first, bytes, begun_ns);
	if (may_have_buffer(first, first + bytes))
		add_freed(place, 0, first, bytes, begun_ns);
}

/* ---- the calls ---- */

static struct {
	void (*free)(void *memory);
	void *(*realloc)(void *memory, size_t bytes);
} next;

/* dlsym may free the text of an error: it is let go, while the function is looked for. */
static bool find_free(void)
{
	static bool is_looked_for;

	if (__atomic_exchange_n(&is_looked_for, true, __ATOMIC_RELAXED))
		return next.free;
	find_behind("free", &next.free);
	return true;
}

/* Returns whether nothing is in use that a block could have. */
static bool is_idle(void)
{
	return trace_is_busy() || (!__atomic_load_n(&windows, __ATOMIC_RELAXED) && !is_recent(&memory_table.latest));
}

/* Returns whether threads are ordered by what they free. */
static bool has_threads(void)
{
	return __builtin_expect(*loads_have_threads, 0) && !trace_is_busy();
}

/* The block is about to be freed. */
static void note_free(const void *site, void *memory)
{
	if (has_threads())
		loads_freed((uint64_t)(uintptr_t)memory, malloc_usable_size(memory));
	if (!is_idle())
		memory_freed((struct place){ "free", site }, (uint64_t)(uintptr_t)memory, malloc_usable_size(memory));
}

/* Which place frees it is not known. */
void memory_freed_elsewhere(const void *memory)
{
	note_free(NULL, (void *)(uintptr_t)memory);
}

__attribute__((visibility("default"))) void free(void *memory)
{
	if (!next.free && !find_free())
		return;
	if (memory)
		note_free(__builtin_return_address(0), memory);
	next.free(memory);
}

/* Whether the block moves is known behind the call only. */
__attribute__((visibility("default"))) void *realloc(void *memory, size_t bytes)
{
	uint64_t first = (uint64_t)(uintptr_t)memory;
	size_t usable = memory && !is_idle() ? malloc_usable_size(memory) : 0;
	uint64_t key = usable ? window_there(first, usable) : 0, begun_ns = usable ? now_ns() : 0;
	void *now;

	if (!next.realloc)
		find_behind("realloc", &next.realloc);
	if (memory && has_threads())
		loads_freed(first, malloc_usable_size(memory));
	now = next.realloc(memory, bytes);
	if (usable && (uint64_t)(uintptr_t)now != first && (now || bytes == 0))
		add_moved((struct place){ "realloc", __builtin_return_address(0) }, first, usable, key, begun_ns);
	return now;
}
