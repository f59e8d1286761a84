/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.h - copies by the processor between the program's memory and mapped window memory
 *
 * DESIGN NOTES
 *
 * A word is one store, as a device places it. Longer copies use memmove, with two exceptions.
 *
 * Programs put from, and get to, the same memory again and again. If memory does not fit a cache,
 * the end of the last copy is still there when the next one begins. So the pieces of a copy of more
 * than COPY_PIECE_BYTES go upwards and downwards in turn. The last word comes when all else is
 * there, in both directions: programs poll it.
 *
 * A get mostly goes to memory in this processor's nearest cache. Up to COPY_GOT_MAX bytes, a loop
 * over long vectors is faster there than memmove, which uses one string instruction from two
 * kilobytes on. Puts need that instruction: it requests many lines at a time that another processor
 * has cached, while the loop waits for each.
 */
#ifndef ORIEL_COPY_H
#define ORIEL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy_blocks.h"

#define COPY_PIECE_BYTES ((size_t)32 << 10)
/* A piece of larger copies. memcpy takes a slower path for a megabyte. */
#define COPY_LARGE_BYTES ((size_t)128 << 10)
#define COPY_LAST_BYTES 64u
#define COPY_GOT_MIN ((size_t)512)
#define COPY_GOT_MAX ((size_t)8 << 10)

/* Copies COPY_GOT_MIN to COPY_GOT_MAX bytes. */
extern void (*copy_got_by)(void *to, const void *from, size_t size_bytes) __attribute__((visibility("hidden")));

static inline void copy_got(void *to, const void *from, size_t size_bytes)
{
	if (size_bytes - COPY_GOT_MIN <= COPY_GOT_MAX - COPY_GOT_MIN)
		copy_got_by(to, from, size_bytes);
	else
		copy_piece(to, from, size_bytes);
}

#define COPY_ROW_MIN ((size_t)32)
#define COPY_ROW_MAX ((size_t)64)

/* Copies blocks of COPY_ROW_MIN to COPY_ROW_MAX bytes, each as memmove does. */
extern void (*copy_row_by)(struct blocks to, struct blocks from, size_t size_bytes, size_t count)
	__attribute__((visibility("hidden")));

/* Copies in pieces, if downwards from the end. */
void copy_pieces(void *to, const void *from, size_t size_bytes, bool downwards);

#endif
