// SPDX-License-Identifier: BSD-2-Clause
/*
 * element_plain.c - operations on memory that no other thread or rank changes meanwhile
 *
 * A small element (element.h) that is aligned is still stored by one instruction, which the
 * compiler makes of a memcpy of its size, or as a whole within a vector. So a load sees the element
 * before or after the operation (A12), and a rank that dies in between leaves it so (A21). The
 * compiler holds a complex number in two registers, and might store them one by one; so complex
 * numbers are loaded and stored as vectors of two.
 *
 * The loops over numbers, which accumulates to mapped memory use (sync/page_lock.h), are compiled
 * again for processors with longer vectors, and chosen when the library is loaded. All compute the
 * same results: an element takes one operation, so the compiler has nothing to contract.
 */
#include "op/element.h"

#include <string.h>

#include "op/element_list.h"

typedef void plain_fn(uint8_t *target, const uint8_t *origin, size_t count);

/* Elements of any alignment: scalars are read and written as a whole, pairs by field. */

#define SCALAR_ACCESS(NAME, T)                              \
	static inline T load_##NAME(const uint8_t *from)        \
	{                                                       \
		T element;                                          \
                                                            \
		memcpy(&element, from, sizeof(T));                  \
		return element;                                     \
	}                                                       \
                                                            \
	static inline void store_##NAME(uint8_t *to, T element) \
	{                                                       \
		memcpy(to, &element, sizeof(T));                    \
	}

#define COMPLEX_ACCESS(NAME, T)                                                                                  \
	typedef __typeof__(__real__(T) 0) two_##NAME __attribute__((vector_size(sizeof(T)), aligned(1), may_alias)); \
                                                                                                                 \
	static inline T load_##NAME(const uint8_t *from)                                                             \
	{                                                                                                            \
		two_##NAME two = *(const two_##NAME *)from;                                                              \
		T element;                                                                                               \
                                                                                                                 \
		__real__ element = two[0];                                                                               \
		__imag__ element = two[1];                                                                               \
		return element;                                                                                          \
	}                                                                                                            \
                                                                                                                 \
	static inline void store_##NAME(uint8_t *to, T element)                                                      \
	{                                                                                                            \
		*(volatile two_##NAME *)to = (two_##NAME){ __real__ element, __imag__ element };                         \
	}

#define PAIR_ACCESS(NAME, T)                                                \
	static inline T load_##NAME(const uint8_t *from)                        \
	{                                                                       \
		T pair;                                                             \
                                                                            \
		memcpy(&pair.value, from, sizeof(pair.value));                      \
		memcpy(&pair.index, from + offsetof(T, index), sizeof(pair.index)); \
		return pair;                                                        \
	}                                                                       \
                                                                            \
	static inline void store_##NAME(uint8_t *to, T pair)                    \
	{                                                                       \
		memcpy(to, &pair.value, sizeof(pair.value));                        \
		memcpy(to + offsetof(T, index), &pair.index, sizeof(pair.index));   \
	}

// clang-format off
#define SCALARS(X) \
	INTEGERS(X) LARGE_INTEGERS(X) SMALL_REALS(X) LARGE_REALS(X) LARGE_COMPLEXES(X) BOOLS(X)
SCALARS(SCALAR_ACCESS)
SMALL_COMPLEXES(COMPLEX_ACCESS)
SMALL_PAIRS(SCALAR_ACCESS) /* eight bytes at once */
LARGE_PAIRS(PAIR_ACCESS)
// clang-format on

/* One function for each operation on each type. */

#define LOOP(how, NAME, T, OP, expression)                                                           \
	static how##_CODE void how##_##NAME##_##OP(uint8_t *target, const uint8_t *origin, size_t count) \
	{                                                                                                \
		how##_UNROLLED for (size_t i = 0; i < count; i++)                                            \
		{                                                                                            \
			T a = load_##NAME(target + i * sizeof(T)), b = load_##NAME(origin + i * sizeof(T));      \
                                                                                                     \
			store_##NAME(target + i * sizeof(T), expression);                                        \
		}                                                                                            \
	}

#define plain_CODE
#define plain_UNROLLED
#define PLAIN(NAME, T, OP, expression) LOOP(plain, NAME, T, OP, expression)

#define REPLACE(NAME, T)                                                                     \
	static void plain_##NAME##_REPLACE(uint8_t *target, const uint8_t *origin, size_t count) \
	{                                                                                        \
		for (size_t i = 0; i < count; i++)                                                   \
			store_##NAME(target + i * sizeof(T), load_##NAME(origin + i * sizeof(T)));       \
	}

#define REPLACE_ROW(NAME, T) [ORIEL_##NAME][ORIEL_REPLACE] = plain_##NAME##_REPLACE,
#define ROW(NAME, T, OP, expression) [ORIEL_##NAME][ORIEL_##OP] = plain_##NAME##_##OP,

#define INTEGER(NAME, T) INTEGER_FETCHED(PLAIN, NAME, T) INTEGER_COMPUTED(PLAIN, NAME, T)
#define INTEGER_ROWS(NAME, T) INTEGER_FETCHED(ROW, NAME, T) INTEGER_COMPUTED(ROW, NAME, T)
#define LARGE_INTEGER(NAME, T) LARGE_INTEGER_OPS(PLAIN, NAME, T)
#define LARGE_INTEGER_ROWS(NAME, T) LARGE_INTEGER_OPS(ROW, NAME, T)
#define BOOL(NAME, T) LOGICAL(PLAIN, NAME, T)
#define BOOL_ROWS(NAME, T) LOGICAL(ROW, NAME, T)
#define REAL(NAME, T) REAL_OPS(PLAIN, NAME, T)
#define REAL_ROWS(NAME, T) REAL_OPS(ROW, NAME, T)
#define COMPLEX(NAME, T) COMPLEX_OPS(PLAIN, NAME, T)
#define COMPLEX_ROWS(NAME, T) COMPLEX_OPS(ROW, NAME, T)
#define PAIR_FUNCTIONS(NAME, T) PAIR_OPS(PLAIN, NAME, T)
#define PAIR_ROWS(NAME, T) PAIR_OPS(ROW, NAME, T)

// clang-format off
INTEGERS(INTEGER) LARGE_INTEGERS(LARGE_INTEGER)
BOOLS(BOOL)
SMALL_REALS(REAL) LARGE_REALS(REAL)
SMALL_COMPLEXES(COMPLEX) LARGE_COMPLEXES(COMPLEX)
SMALL_PAIRS(PAIR_FUNCTIONS) LARGE_PAIRS(PAIR_FUNCTIONS)
SCALARS(REPLACE) SMALL_COMPLEXES(REPLACE) SMALL_PAIRS(REPLACE) LARGE_PAIRS(REPLACE)

/* The functions in use; choose() changes them once, before main. */
static plain_fn *plain[ELEMENT_TYPES][ELEMENT_OPS] = {
	INTEGERS(INTEGER_ROWS) LARGE_INTEGERS(LARGE_INTEGER_ROWS)
	BOOLS(BOOL_ROWS)
	SMALL_REALS(REAL_ROWS) LARGE_REALS(REAL_ROWS)
	SMALL_COMPLEXES(COMPLEX_ROWS) LARGE_COMPLEXES(COMPLEX_ROWS)
	SMALL_PAIRS(PAIR_ROWS) LARGE_PAIRS(PAIR_ROWS)
	SCALARS(REPLACE_ROW) SMALL_COMPLEXES(REPLACE_ROW) SMALL_PAIRS(REPLACE_ROW) LARGE_PAIRS(REPLACE_ROW)
};
// clang-format on

/* The loops again, for processors with longer vectors. */
#ifdef __x86_64__
#define avx2_CODE __attribute__((target("avx2")))
#define avx512_CODE __attribute__((target("avx512f,avx512bw")))
#define avx2_UNROLLED _Pragma("GCC unroll 2") /* saves a tenth of the time at 4 KiB and at 64 KiB */
#define avx512_UNROLLED avx2_UNROLLED
#define AVX2(NAME, T, OP, expression) LOOP(avx2, NAME, T, OP, expression)
#define AVX512(NAME, T, OP, expression) LOOP(avx512, NAME, T, OP, expression)
#define CHOICE(how, NAME, OP) plain[ORIEL_##NAME][ORIEL_##OP] = how##_##NAME##_##OP;
#define CHOOSE_AVX2(NAME, T, OP, expression) CHOICE(avx2, NAME, OP)
#define CHOOSE_AVX512(NAME, T, OP, expression) CHOICE(avx512, NAME, OP)

// clang-format off
#define WHOLE(X, NAME, T) INTEGER_FETCHED(X, NAME, T) EXTREMA(X, NAME, T)
#define NUMBERS(X) \
	REAL_OPS(X, FLOAT, float) REAL_OPS(X, DOUBLE, double) \
	WHOLE(X, INT8, int8_t) WHOLE(X, INT16, int16_t) WHOLE(X, INT32, int32_t) \
	WHOLE(X, INT64, int64_t) WHOLE(X, UINT64, uint64_t) \
	WHOLE(X, UINT8, uint8_t) WHOLE(X, UINT16, uint16_t) WHOLE(X, UINT32, uint32_t)
NUMBERS(AVX2)
NUMBERS(AVX512)

static __attribute__((constructor)) void choose(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
		NUMBERS(CHOOSE_AVX512)
	} else if (__builtin_cpu_supports("avx2")) {
		NUMBERS(CHOOSE_AVX2)
	}
}
// clang-format on
#endif

static __attribute__((noinline)) void fetch_and_apply(enum oriel_type type, enum oriel_op op, uint8_t *target,
                                                      const uint8_t *origin, uint8_t *result, size_t count)
{
	if (element_types[type].small && count > 1) /* for one element of 2 bytes, memcpy reads each byte by itself */
		memcpy(result, target, count * element_types[type].size_bytes);
	else
		plain[type][ORIEL_REPLACE](result, target, count);
	if (op != ORIEL_NO_OP)
		plain[type][op](target, origin, count);
}

void element_apply(enum oriel_type type, enum oriel_op op, void *target, const void *origin, void *result, size_t count)
{
	if (result)
		fetch_and_apply(type, op, target, origin, result, count);
	else if (op != ORIEL_NO_OP)
		plain[type][op](target, origin, count);
}

void element_swap(enum oriel_type type, void *target, const void *origin, const void *compare, void *result)
{
	plain[type][ORIEL_REPLACE](result, target, 1);
	if (memcmp(result, compare, element_types[type].size_bytes) == 0)
		plain[type][ORIEL_REPLACE](target, origin, 1);
}
