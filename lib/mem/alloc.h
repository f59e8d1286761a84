// SPDX-License-Identifier: BSD-2-Clause
/* alloc.h - memory of oriel_alloc: registered memory files, which this node's ranks can map */
#ifndef ORIEL_ALLOC_H
#define ORIEL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/devices.h"

struct oriel_job;

struct allocation {
	struct allocation *next;
	void *base;
	size_t size_bytes; /* whole pages */
	int fd;
	struct registration registration;
};

/* Guarded by job->lock. */
struct allocations {
	struct allocation *list;
};

/* Returns whether all of it lies in memory of oriel_alloc. */
bool alloc_holds(struct oriel_job *job, const void *base, size_t size_bytes);

/*
 * window_cache.c: keeps the memory of freed windows for later ones
 *
 * DESIGN NOTES
 *
 * Making, registering and releasing a memory file costs several times the rest of a window. So the
 * last few of freed windows are kept: mapped, registered, with the same keys. A large one gives its
 * pages back. Memory that a card pins, or whose pages are reserved when it is made, is not kept. A
 * piece serves windows of exactly its size: a region is a window, to the byte (direct_map). All
 * members have passed the free barrier, so none has a write in flight. After the loss of a member
 * nothing is kept.
 */

#define CACHED_WINDOWS_MAX 4
#define CACHED_WITH_PAGES_BYTES_MAX ((size_t)1 << 20) /* larger pieces give their pages back */
#define CACHED_BYTES_MAX ((size_t)64 << 20)           /* for one piece */

/* The memory file of a freed window, registered, not in the memory table. */
struct cached_window {
	void *base;
	size_t size_bytes; /* of the window; the mapping has whole pages */
	int fd;
	struct registration registration;
};

/* Guarded by job->lock. */
struct window_cache {
	struct cached_window list[CACHED_WINDOWS_MAX]; /* oldest first */
	uint32_t count;
};

/* Takes a zeroed piece of that size; false: there is none. */
bool window_cache_take(struct oriel_job *job, size_t size_bytes, struct cached_window *piece);

/* Keeps a window's memory, or releases it. */
void window_cache_give(struct oriel_job *job, const struct cached_window *piece);

/* Releases the oldest piece; false: there is none. */
bool window_cache_release_one(struct oriel_job *job);

#endif
