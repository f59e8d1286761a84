// SPDX-License-Identifier: BSD-2-Clause
/*
 * slab.h - registered memory for peers: neighbour areas, flag words, the directory, copy rings
 *
 * Pieces are carved from slabs that are mapped from memory files (so that a device which shares
 * memory can map them too), registered once, never moved, and released only when the job ends: a
 * peer's late write always finds registered memory. There is no free; window slots reuse their
 * pieces.
 */
#ifndef ORIEL_SLAB_H
#define ORIEL_SLAB_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/devices.h"

#define SLAB_FIRST_BYTES ((size_t)128 << 10)
#define SLAB_LARGEST_BYTES ((size_t)4 << 20)
#define SLABS_MAX 4096
#define SLAB_ALIGN 64

struct slab {
	struct registration registration;
	uint8_t *base;
	size_t size_bytes;
	size_t used_bytes;
	int fd;
};

struct slabs {
	const struct devices *devices;
	pthread_mutex_t lock; /* guards the rest */
	struct slab *list;
	uint32_t count;
	uint32_t capacity;
	size_t total_bytes;
};

/* A device's keys of registered memory: for work requests here, and for those of peers. */
struct piece_keys {
	uint32_t lkey;
	uint32_t rkey;
};

/* A piece of registered memory, zeroed. */
struct piece {
	void *addr;
	struct piece_keys keys[DEVICES_MAX]; /* by the device's index */
};

void slabs_init(struct slabs *slabs, const struct devices *devices);
void slabs_close(struct slabs *slabs);

/* Allocates a piece. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int slab_alloc(struct slabs *slabs, size_t size_bytes, struct piece *piece);

/* Returns the key by which peers of that device reach memory of a slab. */
uint32_t slab_rkey(struct slabs *slabs, const void *addr, uint32_t device);

#endif
