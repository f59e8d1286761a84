// SPDX-License-Identifier: BSD-2-Clause
/*
 * kept_memory.h - memory of allocated windows that have been freed, for later ones
 *
 * DESIGN NOTES
 *
 * A memory file that is made, registered and given back costs several times what the rest of a window
 * does, and programs make windows of the same size again and again. So the last few that were freed
 * are kept: mapped, registered, with the same keys. A large one gives its pages back, so it costs
 * addresses only. One that a card pins, or whose pages are promised when it is made, is not kept.
 * Pieces serve windows of just their size, since a region is a window, to the byte (reach_region).
 * No member has a write to a kept piece under way, or makes another: all have passed the free
 * barrier. Slots are used again for the same reason (directory.c). After the loss of a member nothing
 * is kept.
 */
#ifndef ORIEL_KEPT_MEMORY_H
#define ORIEL_KEPT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/devices.h"

#define KEPT_PIECES_MAX 4
#define KEPT_WITH_PAGES_BYTES_MAX ((size_t)1 << 20) /* a larger piece gives its pages back */
#define KEPT_BYTES_MAX ((size_t)64 << 20)           /* of a piece */

struct oriel_job;

/* Of a memory file, registered for peers, in no table of memory. */
struct kept_piece {
	void *base;
	size_t size_bytes; /* of the window; mapped are whole pages */
	int fd;
	struct registration registration;
};

/* Guarded by job->lock. */
struct kept_memory {
	struct kept_piece list[KEPT_PIECES_MAX]; /* the oldest first */
	uint32_t count;
};

/* A piece of just that size, zeroed; false: there is none. */
bool kept_memory_take(struct oriel_job *job, size_t size_bytes, struct kept_piece *piece);

/* Keep it, or release it. */
void kept_memory_give(struct oriel_job *job, const struct kept_piece *piece);

/* Release the oldest one, because memory is short, or the job ends; false: there is none. */
bool kept_memory_release_one(struct oriel_job *job);

#endif
