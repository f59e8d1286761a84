// SPDX-License-Identifier: BSD-2-Clause
/* copy_blocks.h - copies blocks of one size that lie at one distance from each other */
#ifndef ORIEL_COPY_BLOCKS_H
#define ORIEL_COPY_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where the first block lies, and how far it is from each block to the next. */
struct blocks {
	uint8_t *at;
	ptrdiff_t distance;
};

/* Copies the blocks one by one. A word is one store, as a device places it. */
static inline void copy_each_block(struct blocks to, struct blocks from, size_t size_bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		memmove(to.at, from.at, size_bytes);
		to.at += to.distance;
		from.at += from.distance;
	}
}

/* Copies `count` blocks, each as memmove does. */
static inline void copy_blocks(struct blocks to, struct blocks from, size_t size_bytes, size_t count)
{
	switch (size_bytes) {
	case 4:
		copy_each_block(to, from, 4, count);
		break;
	case 8:
		copy_each_block(to, from, 8, count);
		break;
	case 16:
		copy_each_block(to, from, 16, count);
		break;
	default:
		copy_each_block(to, from, size_bytes, count);
	}
}

/* copies bytes between places that may overlap, and a word by one store */

static inline bool bytes_overlap(const void *a, const void *b, size_t size_bytes)
{
	return (uintptr_t)a - (uintptr_t)b < size_bytes || (uintptr_t)b - (uintptr_t)a < size_bytes;
}

static inline void copy_piece(void *to, const void *from, size_t size_bytes)
{
	if (size_bytes == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t)); /* one store, as a device places a word */
	else
		memmove(to, from, size_bytes);
}

/* Acts as copy_piece; few words without a call. */
static inline void copy_short(void *to, const void *from, size_t size_bytes)
{
	struct {
		uint64_t words[2];
	} first, last;

	if (size_bytes - sizeof(first) > sizeof(last)) {
		copy_piece(to, from, size_bytes);
		return;
	}
	memcpy(&first, from, sizeof(first));
	memcpy(&last, (const uint8_t *)from + size_bytes - sizeof(last), sizeof(last));
	memcpy(to, &first, sizeof(first));
	memcpy((uint8_t *)to + size_bytes - sizeof(last), &last, sizeof(last));
}

#endif
