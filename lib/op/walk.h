/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.h - a place in a list of pieces of this rank, which moves through it */
#ifndef ORIEL_WALK_H
#define ORIEL_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "base/copy_blocks.h"
#include "base/util.h"
#include "oriel.h"

struct walk {
	const struct oriel_origin_piece *list;
	int count; /* 0: the call has no such list */
	int at;
	size_t done; /* of the piece at `at` */
};

/*
 * Returns how many bytes, at most `bytes`, are contiguous at the walk's place. Passes over empty
 * pieces.
 */
static inline size_t walk_together(struct walk *walk, size_t bytes)
{
	while (walk->at < walk->count && walk->done == walk->list[walk->at].size_bytes) {
		walk->at++;
		walk->done = 0;
	}
	return walk->at < walk->count ? min_size(bytes, walk->list[walk->at].size_bytes - walk->done) : bytes;
}

/* Returns the address of the walk's place, and moves on; NULL in an empty list. */
static inline void *walk_step(struct walk *walk, size_t bytes)
{
	uint8_t *here = walk->at < walk->count ? (uint8_t *)walk->list[walk->at].addr + walk->done : NULL;

	walk->done += here ? bytes : 0;
	return here;
}

/* Copies the next bytes of the list to `to`. */
static inline void walk_pack(struct walk *walk, uint8_t *to, size_t bytes)
{
	for (size_t some; bytes > 0; bytes -= some) {
		some = walk_together(walk, bytes);
		copy_piece(to, walk_step(walk, some), some);
		to += some;
	}
}

#endif
