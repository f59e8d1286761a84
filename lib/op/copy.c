// SPDX-License-Identifier: BSD-2-Clause
/* See copy.h. */
#include "op/copy.h"

#include "base/util.h"

/* Copies the last word behind all else. */
static void copy_end(uint8_t *to, const uint8_t *from)
{
	const size_t before = COPY_LAST_BYTES - sizeof(uint64_t);

	memcpy(to, from, before);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	copy_piece(to + before, from + before, sizeof(uint64_t));
}

void copy_pieces(void *to, const void *from, size_t size_bytes, bool downwards)
{
	const size_t piece = size_bytes > COPY_LARGE_BYTES ? COPY_LARGE_BYTES : COPY_PIECE_BYTES;
	const size_t first = size_bytes - COPY_LAST_BYTES, pieces = (first + piece - 1) / piece;

	if (size_bytes <= COPY_PIECE_BYTES || bytes_overlap(to, from, size_bytes)) {
		copy_piece(to, from, size_bytes);
		return;
	}
	for (size_t i = 0; i < pieces; i++) {
		size_t at = (downwards ? pieces - 1 - i : i) * piece;

		memcpy((uint8_t *)to + at, (const uint8_t *)from + at, min_size(first - at, piece));
	}
	copy_end((uint8_t *)to + first, (const uint8_t *)from + first);
}

static void got_by_memmove(void *to, const void *from, size_t size_bytes)
{
	memmove(to, from, size_bytes);
}

void (*copy_got_by)(void *to, const void *from, size_t size_bytes) = got_by_memmove;

void (*copy_row_by)(struct blocks to, struct blocks from, size_t size_bytes, size_t count) = copy_blocks;

#ifdef __x86_64__

#define STEP_VECTORS 4 /* loaded before the first is stored */

/*
 * Stores are aligned after the first step, and the last step ends with the last byte. Both may
 * repeat stores.
 */
#define GOT_BY(how, vector_bytes)                                                                                 \
	typedef uint8_t how##_vector __attribute__((vector_size(vector_bytes), aligned(1), may_alias));               \
                                                                                                                  \
	static inline __attribute__((target(#how), always_inline)) void how##_step(uint8_t *to, const uint8_t *from)  \
	{                                                                                                             \
		const how##_vector *source = (const how##_vector *)from;                                                  \
		how##_vector a = source[0], b = source[1], c = source[2], d = source[3];                                  \
		how##_vector *target = (how##_vector *)to;                                                                \
                                                                                                                  \
		target[0] = a, target[1] = b, target[2] = c, target[3] = d;                                               \
	}                                                                                                             \
                                                                                                                  \
	static inline __attribute__((target(#how), always_inline)) void how##_steps(uint8_t *to, const uint8_t *from, \
	                                                                            size_t size_bytes)                \
	{                                                                                                             \
		const size_t step = STEP_VECTORS * (vector_bytes), last = size_bytes - step;                              \
                                                                                                                  \
		how##_step(to, from);                                                                                     \
		for (size_t at = step - (uintptr_t)to % (vector_bytes); at < last; at += step)                            \
			how##_step(to + at, from + at);                                                                       \
		how##_step(to + last, from + last);                                                                       \
	}                                                                                                             \
                                                                                                                  \
	static __attribute__((target(#how))) void got_by_##how(void *to, const void *from, size_t size_bytes)         \
	{                                                                                                             \
		if (bytes_overlap(to, from, size_bytes))                                                                  \
			memmove(to, from, size_bytes);                                                                        \
		else                                                                                                      \
			how##_steps(to, from, size_bytes);                                                                    \
	}

GOT_BY(avx512f, 64)
GOT_BY(avx2, 32)

static __attribute__((target("avx2"))) void row_by_avx2(struct blocks to, struct blocks from, size_t size_bytes,
                                                        size_t count)
{
	const size_t last = size_bytes - sizeof(avx2_vector);

	for (size_t i = 0; i < count; i++) {
		const avx2_vector a = *(const avx2_vector *)from.at, b = *(const avx2_vector *)(from.at + last);

		*(avx2_vector *)to.at = a;
		*(avx2_vector *)(to.at + last) = b;
		to.at += to.distance;
		from.at += from.distance;
	}
}

static __attribute__((constructor)) void choose(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2"))
		copy_row_by = row_by_avx2;
	if (__builtin_cpu_supports("avx512f"))
		copy_got_by = got_by_avx512f;
	else if (__builtin_cpu_supports("avx2"))
		copy_got_by = got_by_avx2;
}
#endif
