// SPDX-License-Identifier: BSD-2-Clause
/* copy_piece.h - copies bytes between places that may overlap, and a word by one store */
#ifndef ORIEL_COPY_PIECE_H
#define ORIEL_COPY_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#endif
