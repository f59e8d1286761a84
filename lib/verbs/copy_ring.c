// SPDX-License-Identifier: BSD-2-Clause
/* See copy_ring.h. */
#include "verbs/copy_ring.h"

#include <assert.h>
#include <stdlib.h>

#include "base/err.h"

static_assert(COPY_RING_BYTES % COPY_RING_ALIGN_BYTES == 0, "what begins aligned does so in each round");

bool copy_ring_open(struct copy_ring *ring, uint32_t depth)
{
	struct ring_copy *copies;

	if (ring->copies)
		return true;
	copies = calloc(depth, sizeof(*copies));
	if (!copies) {
		err_set(ORIEL_ERR_MEMORY,
		        "out of memory: %zu bytes for %u copies at once to and from a peer; what uses memory "
		        "of oriel_mem_register or of a window is not copied",
		        depth * sizeof(*copies), depth);
		return false;
	}
	if (slab_alloc(ring->slabs, COPY_RING_BYTES, &ring->piece)) {
		free(copies);
		return false;
	}
	ring->depth = depth;
	ring->copies = copies;
	return true;
}

void copy_ring_free(struct copy_ring *ring)
{
	free(ring->copies);
}

struct ring_copy *copy_ring_extend(struct copy_ring *ring, uint32_t size_bytes, uint64_t number)
{
	struct ring_copy *copy;

	if (ring->copy_head == ring->copy_tail)
		return NULL;
	copy = &ring->copies[(ring->copy_head - 1) % ring->depth];
	if (copy->number != number || copy->size_bytes % COPY_RING_ALIGN_BYTES != 0 || ring->head % COPY_RING_BYTES == 0 ||
	    copy_ring_start(ring, size_bytes) != ring->head || !copy_ring_has_room(ring, size_bytes))
		return NULL;
	ring->head += copy_ring_taken(size_bytes);
	copy->ring_end = ring->head;
	copy->size_bytes += size_bytes;
	return copy;
}

void copy_ring_retire_copies(struct copy_ring *ring, uint64_t number)
{
	while (ring->copy_tail != ring->copy_head) {
		struct ring_copy *copy = &ring->copies[ring->copy_tail % ring->depth];

		if (copy->number > number)
			return;
		if (copy->origin)
			copy_piece(copy->origin, copy->landing, copy->size_bytes);
		ring->tail = copy->ring_end;
		ring->copy_tail++;
	}
}
