// SPDX-License-Identifier: BSD-2-Clause
/*
 * slab.h - registered memory for peers: neighbour areas, flag words, the directory, copy rings
 *
 * Slabs are mapped from memory files (which a device that shares memory can map too), registered
 * once, never moved, and released only when the job ends: a peer's late write always finds
 * registered memory. Pieces of them are not freed; window slots reuse them.
 */
#ifndef ORIEL_SLAB_H
#define ORIEL_SLAB_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/devices.h"
#include "verbs/layout.h"

struct slabs;

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

/* A device's keys: for work requests here, and for those of peers. */
struct piece_keys {
	uint32_t lkey;
	uint32_t rkey;
};

/* A zeroed piece. */
struct piece {
	void *addr;
	struct piece_keys keys[DEVICES_MAX]; /* by device */
};

void slabs_init(struct slabs *slabs, const struct devices *devices);
void slabs_close(struct slabs *slabs);

/* ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int slab_alloc(struct slabs *slabs, size_t size_bytes, struct piece *piece);

/* Returns the key of a slab's memory for peers of that device. */
uint32_t slab_rkey(struct slabs *slabs, const void *addr, uint32_t device);

/* Our side of a segmented table that peers access (layout.h) */

/*
 * Makes a segment of a table unless it exists: *base becomes its first element here, and *ref, of
 * the root, gives its place to peers of `device`. The caller holds the lock of both. ERRORS:
 * ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int table_add_segment(struct slabs *slabs, uint32_t device, struct segment_ref *ref, size_t size_bytes, void **base);

/* Moves the table to peers of another device; base[] are its segments, or NULL. */
void table_set_device(struct slabs *slabs, uint32_t device, struct table_root *root, void *const base[TABLE_SEGMENTS]);

#endif
