// SPDX-License-Identifier: BSD-2-Clause
/*
 * alloc.h - memory of oriel_alloc: registered memory files, which ranks of this node can map
 */
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

/* Returns whether [base, base + size_bytes) lies in memory of oriel_alloc. */
bool alloc_holds(struct oriel_job *job, const void *base, size_t size_bytes);

/*
 * window_cache.c: keeps the memory of freed windows for later ones
 *
 * DESIGN NOTES
 *
 * Making, registering and releasing a memory file costs several times what the rest of a window
 * does, and programs often make windows of the same size. So the last few freed are kept: mapped,
 * registered, with the same keys. A large one gives its pages back and costs addresses only. Memory
 * that a card pins, or whose pages are reserved when it is made, is not kept. A piece serves
 * windows of exactly its size, since a region is a window, to the byte (direct_map). No member has
 * a write to it in flight: all have passed the free barrier. Slots are reused for the same reason
 * (directory.c). After the loss of a member nothing is kept.
 */

#define CACHED_WINDOWS_MAX 4
#define CACHED_WITH_PAGES_BYTES_MAX ((size_t)1 << 20) /* a larger piece gives its pages back */
#define CACHED_BYTES_MAX ((size_t)64 << 20)           /* for one piece */

/* The memory of a freed window: a memory file, registered for peers, not in the memory table. */
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

/* Takes a piece of exactly that size, zeroed. Returns false if there is none. */
bool window_cache_take(struct oriel_job *job, size_t size_bytes, struct cached_window *piece);

/* Puts a window's memory into the cache, or releases it. */
void window_cache_give(struct oriel_job *job, const struct cached_window *piece);

/*
 * Releases the oldest piece, because memory is short or the job ends. Returns false if there is
 * none.
 */
bool window_cache_release_one(struct oriel_job *job);

#endif
