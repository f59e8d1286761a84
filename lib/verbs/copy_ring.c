// SPDX-License-Identifier: BSD-2-Clause
/* copy_ring.c - see copy_ring.h. */
#include "verbs/copy_ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN_BYTES 8u

static_assert(COPY_RING_BYTES % ALIGN_BYTES == 0, "what begins aligned does so in each round");

bool copy_ring_open(struct copy_ring *ring, uint32_t depth)
{
	if (ring->copies)
		return true;
	if (slab_alloc(ring->slabs, COPY_RING_BYTES, &ring->piece))
		return false;
	ring->depth = depth;
	ring->copies = calloc(depth, sizeof(*ring->copies));
	return ring->copies;
}

void copy_ring_free(struct copy_ring *ring)
{
	free(ring->copies);
}

/* What size_bytes take up. */
static uint32_t taken(uint32_t size_bytes)
{
	return (size_bytes + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
}

/* The position at which size_bytes fit without wrapping. */
static uint32_t start_of(const struct copy_ring *ring, uint32_t size_bytes)
{
	uint32_t left = COPY_RING_BYTES - ring->head % COPY_RING_BYTES;

	return left < size_bytes ? ring->head + left : ring->head;
}

bool copy_ring_has_room(const struct copy_ring *ring, uint32_t size_bytes)
{
	return start_of(ring, size_bytes) + taken(size_bytes) - ring->tail <= COPY_RING_BYTES;
}

struct ring_copy *copy_ring_take(struct copy_ring *ring, uint32_t size_bytes, uint64_t number, void *origin)
{
	struct ring_copy *copy = &ring->copies[ring->copy_head++ % ring->depth];
	uint32_t start = start_of(ring, size_bytes);

	ring->head = start + taken(size_bytes);
	copy->number = number;
	copy->ring_end = ring->head;
	copy->size_bytes = size_bytes;
	copy->landing = (uint8_t *)ring->piece.addr + start % COPY_RING_BYTES;
	copy->origin = origin;
	return copy;
}

struct ring_copy *copy_ring_extend(struct copy_ring *ring, uint32_t size_bytes, uint64_t number)
{
	struct ring_copy *copy;

	if (ring->copy_head == ring->copy_tail)
		return NULL;
	copy = &ring->copies[(ring->copy_head - 1) % ring->depth];
	if (copy->number != number || copy->size_bytes % ALIGN_BYTES != 0 || ring->head % COPY_RING_BYTES == 0 ||
	    start_of(ring, size_bytes) != ring->head || !copy_ring_has_room(ring, size_bytes))
		return NULL;
	ring->head += taken(size_bytes);
	copy->ring_end = ring->head;
	copy->size_bytes += size_bytes;
	return copy;
}

bool copy_ring_wants_signal(struct copy_ring *ring, const struct ring_copy *copy)
{
	if (copy->ring_end - ring->signalled < COPY_RING_BYTES / 4)
		return false;
	ring->signalled = copy->ring_end;
	return true;
}

void copy_ring_retire(struct copy_ring *ring, uint64_t number)
{
	while (ring->copy_tail != ring->copy_head) {
		struct ring_copy *copy = &ring->copies[ring->copy_tail % ring->depth];

		if (copy->number > number)
			return;
		if (copy->origin)
			memcpy(copy->origin, copy->landing, copy->size_bytes);
		ring->tail = copy->ring_end;
		ring->copy_tail++;
	}
}
