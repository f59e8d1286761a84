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

#include "base/copy_piece.h"
#include "verbs/slab.h"

#define COPY_RING_BYTES (64u << 10)
#define COPY_RING_ALIGN_BYTES 8u

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

/* Make the ring if that has not been done, for `depth` copies at once. False for want of memory, with the error text set. */
bool copy_ring_open(struct copy_ring *ring, uint32_t depth);
void copy_ring_free(struct copy_ring *ring);

static inline bool copy_ring_is_open(const struct copy_ring *ring)
{
	return ring->copies;
}

/* What size_bytes take up. */
static inline uint32_t copy_ring_taken(uint32_t size_bytes)
{
	return (size_bytes + COPY_RING_ALIGN_BYTES - 1) & ~(COPY_RING_ALIGN_BYTES - 1);
}

/* The position at which size_bytes fit without wrapping. */
static inline uint32_t copy_ring_start(const struct copy_ring *ring, uint32_t size_bytes)
{
	uint32_t left = COPY_RING_BYTES - ring->head % COPY_RING_BYTES;

	return left < size_bytes ? ring->head + left : ring->head;
}

/* Whether there is room for size_bytes now. */
static inline bool copy_ring_has_room(const struct copy_ring *ring, uint32_t size_bytes)
{
	return copy_ring_start(ring, size_bytes) + copy_ring_taken(size_bytes) - ring->tail <= COPY_RING_BYTES;
}

/* Take that room for request `number`; origin is NULL for a put. */
static inline struct ring_copy *copy_ring_take(struct copy_ring *ring, uint32_t size_bytes, uint64_t number,
                                               void *origin)
{
	struct ring_copy *copy = &ring->copies[ring->copy_head++ % ring->depth];
	uint32_t start = copy_ring_start(ring, size_bytes);

	ring->head = start + copy_ring_taken(size_bytes);
	copy->number = number;
	copy->ring_end = ring->head;
	copy->size_bytes = size_bytes;
	copy->landing = (uint8_t *)ring->piece.addr + start % COPY_RING_BYTES;
	copy->origin = origin;
	return copy;
}

/* The same right behind the last copy, which becomes so much longer, if that is the put `number`; NULL: it cannot be. */
struct ring_copy *copy_ring_extend(struct copy_ring *ring, uint32_t size_bytes, uint64_t number);

/* Whether the request of this copy has to be signalled, which is so every quarter of the ring: a wait for room always ends. */
static inline bool copy_ring_wants_signal(struct copy_ring *ring, const struct ring_copy *copy)
{
	if (copy->ring_end - ring->signalled < COPY_RING_BYTES / 4)
		return false;
	ring->signalled = copy->ring_end;
	return true;
}

/* Requests up to `number` are complete: gets are copied out, room is free again. */
void copy_ring_retire_copies(struct copy_ring *ring, uint64_t number);

static inline void copy_ring_retire(struct copy_ring *ring, uint64_t number)
{
	if (ring->copy_tail != ring->copy_head)
		copy_ring_retire_copies(ring, number);
}

#endif
