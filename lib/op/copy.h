/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.h - the processor's copying between the program's memory and a window's that is mapped here
 *
 * DESIGN NOTES
 *
 * A word is one store, as a device places it. What is longer is memmove's, which knows the
 * processor, but for two things that it does not know.
 *
 * Programs put from, and get to, the same memory again and again. What does not fit a cache is gone
 * from it when it is begun from below each time, while the end of the last time is still there. So
 * of more than COPY_PIECE_BYTES the pieces go upwards and downwards in turn, as a plough does: 64
 * KiB take an eighth less, a megabyte a sixth, and what is copied once as long as ever. The last
 * word comes when all else is there, whichever way: programs look at it.
 *
 * What is got mostly goes to memory that only this processor has written, and often lies in its
 * nearest cache already. There a loop over long vectors takes half of the time at 4 KiB that
 * memmove does, which takes one instruction from two kilobytes on. Beyond COPY_GOT_MAX it is no
 * better; and puts want that instruction: it asks for many lines at a time that another processor
 * has seen, where the loop waits for each. From the other's cache 8 KiB come by either in the same
 * time.
 */
#ifndef ORIEL_COPY_H
#define ORIEL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy_piece.h"

#define COPY_PIECE_BYTES ((size_t)32 << 10)
/* A piece of what is more; memcpy takes another way for a megabyte, 15 % slower. */
#define COPY_LARGE_BYTES ((size_t)128 << 10)
#define COPY_LAST_BYTES 64u
#define COPY_GOT_MIN ((size_t)512)
#define COPY_GOT_MAX ((size_t)8 << 10)

/* Chosen when the library is loaded. Of COPY_GOT_MIN to COPY_GOT_MAX bytes. */
extern void (*copy_got_by)(void *to, const void *from, size_t size_bytes) __attribute__((visibility("hidden")));

static inline void copy_got(void *to, const void *from, size_t size_bytes)
{
	if (size_bytes - COPY_GOT_MIN <= COPY_GOT_MAX - COPY_GOT_MIN)
		copy_got_by(to, from, size_bytes);
	else
		copy_piece(to, from, size_bytes);
}

/* Of any number. `downwards`: those at the end first. */
void copy_pieces(void *to, const void *from, size_t size_bytes, bool downwards);

#endif
