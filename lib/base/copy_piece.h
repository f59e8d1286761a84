// SPDX-License-Identifier: BSD-2-Clause
/* copy_piece.h - bytes from one place to another, which may have some in common; a word by no call */
#ifndef ORIEL_COPY_PIECE_H
#define ORIEL_COPY_PIECE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void copy_piece(void *to, const void *from, size_t size_bytes)
{
	if (size_bytes == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t)); /* one store, as a device places a word */
	else
		memmove(to, from, size_bytes);
}

#endif
