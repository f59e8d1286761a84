/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.h - copies by the processor between the program's memory and a window's that is mapped here
 *
 * DESIGN NOTES
 *
 * A word is one store, as a device places it. Longer copies use memmove, which knows the processor,
 * with two exceptions.
 *
 * Programs put from, and get to, the same memory again and again. Memory that does not fit a cache
 * is gone from it if each copy begins at the low end, while the end of the last copy is still
 * there. So the pieces of a copy of more than COPY_PIECE_BYTES go upwards and downwards in turn: 64
 * KiB take an eighth less, a megabyte a sixth, and memory that is copied once takes as long as
 * before. The last word comes when all else is there, in both directions: programs poll it.
 *
 * A get mostly goes to memory that only this processor has written, and that is often in its
 * nearest cache already. There a loop over long vectors takes half of the time at 4 KiB that
 * memmove takes, which uses one string instruction from two kilobytes on. Beyond COPY_GOT_MAX it is
 * no better. Puts need that instruction: it requests many lines at a time that another processor
 * has cached, while the loop waits for each. From the other's cache 8 KiB take the same time by
 * both.
 */
#ifndef ORIEL_COPY_H
#define ORIEL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy_piece.h"

#define COPY_PIECE_BYTES ((size_t)32 << 10)
/* A piece of larger copies; memcpy takes another path for a megabyte, 15 % slower. */
#define COPY_LARGE_BYTES ((size_t)128 << 10)
#define COPY_LAST_BYTES 64u
#define COPY_GOT_MIN ((size_t)512)
#define COPY_GOT_MAX ((size_t)8 << 10)

/* Copies COPY_GOT_MIN to COPY_GOT_MAX bytes. Chosen when the library is loaded. */
extern void (*copy_got_by)(void *to, const void *from, size_t size_bytes) __attribute__((visibility("hidden")));

static inline void copy_got(void *to, const void *from, size_t size_bytes)
{
	if (size_bytes - COPY_GOT_MIN <= COPY_GOT_MAX - COPY_GOT_MIN)
		copy_got_by(to, from, size_bytes);
	else
		copy_piece(to, from, size_bytes);
}

/* Copies any number of bytes in pieces. `downwards`: begins with the piece at the end. */
void copy_pieces(void *to, const void *from, size_t size_bytes, bool downwards);

#endif
