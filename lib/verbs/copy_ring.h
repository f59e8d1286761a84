// SPDX-License-Identifier: BSD-2-Clause
/*
 * copy_ring.h - registered memory through which a wire copies what is not registered
 *
 * Contiguous space, without wrap; positions count on for ever and are taken modulo the ring. A put is
 * copied in before it is posted; a get lands in the ring and is copied out when its completion is
 * retired. Each starts at a multiple of 8 bytes, as the old value of an atomic wants it. The wire's lock
 * guards all of it.
 */
#ifndef ORIEL_COPY_RING_H
#define ORIEL_COPY_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/slab.h"

#define COPY_RING_BYTES (64u << 10)

/* A transfer through the ring that is not retired yet. */
struct ring_copy {
	uint64_t number;   /* of its work request */
	uint32_t ring_end; /* ring position to free up to, counted without wrap */
	uint32_t size_bytes;
	void *landing; /* where in the ring the data lies, or arrives */
	void *origin;  /* gets: where it is copied to; NULL for puts */
};

struct copy_ring {
	struct slabs *slabs;
	struct piece piece;
	uint32_t head;            /* bytes ever taken */
	uint32_t tail;            /* bytes ever freed */
	uint32_t signalled;       /* head at the last request that was signalled for the ring's sake */
	struct ring_copy *copies; /* circular, `depth` elements; NULL before the first use */
	uint32_t depth;
	uint64_t copy_head;
	uint64_t copy_tail;
};

/* Make the ring if that has not been done, for `depth` copies at once. False for want of memory. */
bool copy_ring_open(struct copy_ring *ring, uint32_t depth);
void copy_ring_free(struct copy_ring *ring);

/* Whether there is room for size_bytes now. */
bool copy_ring_has_room(const struct copy_ring *ring, uint32_t size_bytes);

/* Take that room for request `number`; origin is NULL for a put. */
struct ring_copy *copy_ring_take(struct copy_ring *ring, uint32_t size_bytes, uint64_t number, void *origin);

/* The same right behind the last copy, which becomes so much longer, if that is the put `number`; NULL: it cannot be. */
struct ring_copy *copy_ring_extend(struct copy_ring *ring, uint32_t size_bytes, uint64_t number);

/* Whether the request of this copy has to be signalled, which is so every quarter of the ring: a wait for room always ends. */
bool copy_ring_wants_signal(struct copy_ring *ring, const struct ring_copy *copy);

/* Requests up to `number` are complete: gets are copied out, room is free again. */
void copy_ring_retire(struct copy_ring *ring, uint64_t number);

#endif
