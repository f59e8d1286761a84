// SPDX-License-Identifier: BSD-2-Clause
/*
 * copy_ring.h - registered memory through which a wire copies unregistered data
 *
 * Each transfer's space is contiguous. Positions count on without end and are taken modulo the
 * ring. A put is copied in before it is posted; a get is copied out when its completion is retired.
 * Each starts at a multiple of 8 bytes, as an atomic's old value requires. The wire's lock guards
 * all of it.
 */
#ifndef ORIEL_COPY_RING_H
#define ORIEL_COPY_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/copy_blocks.h"
#include "verbs/slab.h"

#define COPY_RING_BYTES (64u << 10)
#define COPY_RING_ALIGN_BYTES 8u

/* A transfer that is not yet retired. */
struct ring_copy {
	uint64_t number;   /* of its work request */
	uint32_t ring_end; /* position to free up to */
	uint32_t size_bytes;
	void *landing; /* in the ring */
	void *origin;  /* of a get; NULL for puts */
};

struct copy_ring {
	struct slabs *slabs;
	struct piece piece;
	uint32_t head;            /* bytes ever taken */
	uint32_t tail;            /* bytes ever freed */
	uint32_t signalled;       /* head at the last request signalled for the ring */
	struct ring_copy *copies; /* circular, `depth` elements; NULL before the first use */
	uint32_t depth;
	uint64_t copy_head;
	uint64_t copy_tail;
};

/* Makes the ring for `depth` copies unless it exists. False: out of memory; the text is set. */
bool copy_ring_open(struct copy_ring *ring, uint32_t depth);
void copy_ring_free(struct copy_ring *ring);

static inline bool copy_ring_is_open(const struct copy_ring *ring)
{
	return ring->copies;
}

/* Returns the bytes that size_bytes occupy. */
static inline uint32_t copy_ring_taken(uint32_t size_bytes)
{
	return (size_bytes + COPY_RING_ALIGN_BYTES - 1) & ~(COPY_RING_ALIGN_BYTES - 1);
}

static inline uint32_t copy_ring_start(const struct copy_ring *ring, uint32_t size_bytes)
{
	uint32_t left = COPY_RING_BYTES - ring->head % COPY_RING_BYTES;

	return left < size_bytes ? ring->head + left : ring->head;
}

static inline bool copy_ring_has_room(const struct copy_ring *ring, uint32_t size_bytes)
{
	return copy_ring_start(ring, size_bytes) + copy_ring_taken(size_bytes) - ring->tail <= COPY_RING_BYTES;
}

/* Takes room for request `number`; origin is NULL for a put. */
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

/* If the last copy is the put `number`, lengthens it; otherwise returns NULL. */
struct ring_copy *copy_ring_extend(struct copy_ring *ring, uint32_t size_bytes, uint64_t number);

/* Returns whether to signal the request: each quarter of the ring, so that a wait for room ends. */
static inline bool copy_ring_wants_signal(struct copy_ring *ring, const struct ring_copy *copy)
{
	if (copy->ring_end - ring->signalled < COPY_RING_BYTES / 4)
		return false;
	ring->signalled = copy->ring_end;
	return true;
}

/* Retires requests up to `number`: copies gets out and frees room. */
void copy_ring_retire_copies(struct copy_ring *ring, uint64_t number);

static inline void copy_ring_retire(struct copy_ring *ring, uint64_t number)
{
	if (ring->copy_tail != ring->copy_head)
		copy_ring_retire_copies(ring, number);
}

#endif
