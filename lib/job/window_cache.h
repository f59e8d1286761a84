// SPDX-License-Identifier: BSD-2-Clause
/*
 * window_cache.h - memory of allocated windows that have been freed, for later ones
 *
 * DESIGN NOTES
 *
 * A memory file that is made, registered and given back costs several times what the rest of a
 * window does, and programs make windows of the same size again and again. So the last few that
 * were freed are kept: mapped, registered, with the same keys. A large one gives its pages back, so
 * it costs addresses only. One that a card pins, or whose pages are promised when it is made, is
 * not kept. Pieces serve windows of just their size, since a region is a window, to the byte
 * (direct_map). No member has a write to a cached piece in flight, or makes another: all have
 * passed the free barrier. Slots are used again for the same reason (directory.c). After the loss
 * of a member nothing is kept.
 */
#ifndef ORIEL_WINDOW_CACHE_H
#define ORIEL_WINDOW_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/devices.h"

#define CACHED_WINDOWS_MAX 4
#define CACHED_WITH_PAGES_BYTES_MAX ((size_t)1 << 20) /* a larger piece gives its pages back */
#define CACHED_BYTES_MAX ((size_t)64 << 20)           /* of a piece */

struct oriel_job;

/*
 * The memory of a window that has been freed: a memory file, registered for peers, in no table of
 * memory.
 */
struct cached_window {
	void *base;
	size_t size_bytes; /* of the window; mapped are whole pages */
	int fd;
	struct registration registration;
};

/* Guarded by job->lock. */
struct window_cache {
	struct cached_window list[CACHED_WINDOWS_MAX]; /* the oldest first */
	uint32_t count;
};

/* A piece of just that size, zeroed; false: there is none. */
bool window_cache_take(struct oriel_job *job, size_t size_bytes, struct cached_window *piece);

/* Give a window's memory to the cache, or release it if it is not to be kept. */
void window_cache_give(struct oriel_job *job, const struct cached_window *piece);

/* Release the oldest one, because memory is short, or the job ends; false: there is none. */
bool window_cache_release_one(struct oriel_job *job);

#endif
