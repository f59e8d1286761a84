// SPDX-License-Identifier: BSD-2-Clause
/* copy.c - see copy.h. */
#include "op/copy.h"

#include "base/util.h"

static bool overlap(const void *to, const void *from, size_t size_bytes)
{
	return (uintptr_t)to - (uintptr_t)from < size_bytes || (uintptr_t)from - (uintptr_t)to < size_bytes;
}

void copy_pieces(void *to, const void *from, size_t size_bytes, bool downwards)
{
	const size_t piece = size_bytes > COPY_LARGE_BYTES ? COPY_LARGE_BYTES : COPY_PIECE_BYTES;
	const size_t first = size_bytes > COPY_PIECE_BYTES ? size_bytes - COPY_LAST_BYTES : 0;
	const size_t pieces = (first + piece - 1) / piece;

	if (overlap(to, from, size_bytes)) {
		memmove(to, from, size_bytes);
		return;
	}
	for (size_t i = 0; i < pieces; i++) {
		size_t at = (downwards ? pieces - 1 - i : i) * piece;

		memcpy((uint8_t *)to + at, (const uint8_t *)from + at, min_size(first - at, piece));
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
	copy_few((uint8_t *)to + first, (const uint8_t *)from + first, size_bytes - first);
}
