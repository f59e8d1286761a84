/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.h - the processor's copying between the program's memory and a window's that is mapped here
 *
 * DESIGN NOTES
 *
 * A word is one store, as a device places it. What is longer is memmove's, which knows the processor, but not the program.
 *
 * Programs put from, and get to, the same memory again and again. What does not fit a cache is gone from it when it is begun
 * from below each time, while the end of the last time is still there. So of more than COPY_PIECE_BYTES the pieces go upwards
 * and downwards in turn, as a plough does: 64 KiB take an eighth less, a megabyte a sixth, and what is copied once as long as
 * ever. The last bytes come when all others are there, whichever way: programs look at these.
 */
#ifndef ORIEL_COPY_H
#define ORIEL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COPY_PIECE_BYTES ((size_t)32 << 10)
#define COPY_LARGE_BYTES \
	((size_t)128 << 10) /* a piece of what is more; memcpy takes another way for a megabyte, 15 % slower */
#define COPY_LAST_BYTES 64u

/* At most COPY_PIECE_BYTES. */
static inline void copy_few(void *to, const void *from, size_t size_bytes)
{
	if (size_bytes == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else
		memmove(to, from, size_bytes);
}

/* Of any number. `downwards`: those at the end first. */
void copy_pieces(void *to, const void *from, size_t size_bytes, bool downwards);

#endif
