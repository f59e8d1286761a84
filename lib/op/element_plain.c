// SPDX-License-Identifier: BSD-2-Clause
/*
 * element_plain.c - operations on memory that no other thread or rank changes meanwhile
 *
 * An element that has one store (element.h) is stored by one instruction: the compiler makes it of
 * a memcpy of at most 8 bytes, or stores the element as a whole within a vector. So a load sees an
 * aligned element before or after the operation (A12), and a rank that dies in between leaves any
 * element so (A21). The compiler would store larger elements in two parts; so they are vectors
 * here, and pairs with padding are vectors of which a mask leaves the padding out. tests/unit stops
 * behind each instruction to check this.
 *
 * The loops over numbers are compiled again for processors with longer vectors. All compute the
 * same results: an element takes one operation, so the compiler has nothing to contract.
 */
#include "op/element.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "op/element_list.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

typedef uint64_t wide_bytes __attribute__((vector_size(16), aligned(1), may_alias));

typedef void plain_fn(uint8_t *target, const uint8_t *origin, size_t count);

/* Scalars of any alignment are read and written as a whole, pairs by field. */

#define LOAD(NAME, T)                                \
	static inline T load_##NAME(const uint8_t *from) \
	{                                                \
		T element;                                   \
                                                     \
		memcpy(&element, from, sizeof(T));           \
		return element;                              \
	}

#define SCALAR_ACCESS(NAME, T)                              \
	LOAD(NAME, T)                                           \
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

#define WIDE_ACCESS(NAME, T)                                \
	LOAD(NAME, T)                                           \
                                                            \
	static inline void store_##NAME(uint8_t *to, T element) \
	{                                                       \
		wide_bytes bytes;                                   \
                                                            \
		static_assert(sizeof(T) == sizeof(bytes), #NAME);   \
		memcpy(&bytes, &element, sizeof(bytes));            \
		*(volatile wide_bytes *)to = bytes;                 \
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

/* x86-64 stores the 10 bytes that count by one instruction; other processors store all 16. */
typedef long double any_long_double __attribute__((aligned(1), may_alias));

static inline long double load_LONG_DOUBLE(const uint8_t *from)
{
	return *(const any_long_double *)from;
}

static inline void store_LONG_DOUBLE(uint8_t *to, long double element)
{
	*(volatile any_long_double *)to = element;
}

// clang-format off
INTEGERS(SCALAR_ACCESS) WIDE_INTEGERS(WIDE_ACCESS)
BOOLS(SCALAR_ACCESS)
SMALL_REALS(SCALAR_ACCESS) REALS_128(WIDE_ACCESS)
SMALL_COMPLEXES(COMPLEX_ACCESS) WIDE_COMPLEXES(COMPLEX_ACCESS) LARGE_COMPLEXES(SCALAR_ACCESS)
SMALL_PAIRS(SCALAR_ACCESS) WIDE_PAIRS(WIDE_ACCESS) MASKED_PAIRS(PAIR_ACCESS) SCATTERED_PAIRS(PAIR_ACCESS)
// clang-format on

#define LOOP(how, NAME, T, OP, expression)                                                           \
	static how##_CODE void how##_##NAME##_##OP(uint8_t *target, const uint8_t *origin, size_t count) \
	{                                                                                                \
		how##_UNROLLED for (size_t i = 0; i < count; i++)                                            \
		{                                                                                            \
			T a = load_##NAME(target + i * sizeof(T)), b = load_##NAME(origin + i * sizeof(T));      \
                                                                                                     \
			how##_STORE(NAME)(target + i * sizeof(T), expression);                                   \
		}                                                                                            \
	}

#define plain_CODE
#define plain_UNROLLED
#define plain_STORE(NAME) store_##NAME
#define PLAIN(NAME, T, OP, expression) LOOP(plain, NAME, T, OP, expression)

#define REPLACE(NAME, T) PLAIN(NAME, T, REPLACE, ((void)a, b))

#define REPLACE_ROW(NAME, T) [ORIEL_##NAME][ORIEL_REPLACE] = plain_##NAME##_REPLACE,
#define ROW(NAME, T, OP, expression) [ORIEL_##NAME][ORIEL_##OP] = plain_##NAME##_##OP,

#define INTEGER(NAME, T) INTEGER_FETCHED(PLAIN, NAME, T) INTEGER_COMPUTED(PLAIN, NAME, T)
#define INTEGER_ROWS(NAME, T) INTEGER_FETCHED(ROW, NAME, T) INTEGER_COMPUTED(ROW, NAME, T)
#define WIDE_INTEGER(NAME, T) WIDE_INTEGER_OPS(PLAIN, NAME, T)
#define WIDE_INTEGER_ROWS(NAME, T) WIDE_INTEGER_OPS(ROW, NAME, T)
#define BOOL(NAME, T) LOGICAL(PLAIN, NAME, T)
#define BOOL_ROWS(NAME, T) LOGICAL(ROW, NAME, T)
#define REAL(NAME, T) REAL_OPS(PLAIN, NAME, T)
#define REAL_ROWS(NAME, T) REAL_OPS(ROW, NAME, T)
#define COMPLEX(NAME, T) COMPLEX_OPS(PLAIN, NAME, T)
#define COMPLEX_ROWS(NAME, T) COMPLEX_OPS(ROW, NAME, T)
#define PAIR_FUNCTIONS(NAME, T) PAIR_OPS(PLAIN, NAME, T)
#define PAIR_ROWS(NAME, T) PAIR_OPS(ROW, NAME, T)

#define ALL(X) INTEGERS(X) WIDE_INTEGERS(X) BOOLS(X) REALS(X) COMPLEXES(X) PAIRS(X)

	// clang-format off
INTEGERS(INTEGER) WIDE_INTEGERS(WIDE_INTEGER)
BOOLS(BOOL)
REALS(REAL)
COMPLEXES(COMPLEX)
PAIRS(PAIR_FUNCTIONS)
ALL(REPLACE)

/* The functions in use; choose() changes them before main. */
static plain_fn *plain[ELEMENT_TYPES][ELEMENT_OPS] = {
	INTEGERS(INTEGER_ROWS) WIDE_INTEGERS(WIDE_INTEGER_ROWS)
	BOOLS(BOOL_ROWS)
	REALS(REAL_ROWS)
	COMPLEXES(COMPLEX_ROWS)
	PAIRS(PAIR_ROWS)
	ALL(REPLACE_ROW)
};
// clang-format on

#ifdef __x86_64__

/* Pairs with padding, for processors whose stores have a mask. */
static const int32_t masks[] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0 };

#define MASKED_STORE(NAME, T)                                                                                    \
	static inline __attribute__((target("avx"))) void store_masked_##NAME(uint8_t *to, T pair)                   \
	{                                                                                                            \
		const size_t bytes = offsetof(T, index) + sizeof(pair.index);                                            \
		const int32_t *mask = masks + 8 - bytes / sizeof(*mask);                                                 \
		float words[8] = { 0 };                                                                                  \
                                                                                                                 \
		memcpy(words, &pair, bytes);                                                                             \
		if (sizeof(T) == 16)                                                                                     \
			_mm_maskstore_ps((float *)to, _mm_loadu_si128((const __m128i *)mask), _mm_loadu_ps(words));          \
		else                                                                                                     \
			_mm256_maskstore_ps((float *)to, _mm256_loadu_si256((const __m256i *)mask), _mm256_loadu_ps(words)); \
	}

#define masked_CODE __attribute__((target("avx")))
#define masked_UNROLLED
#define masked_STORE(NAME) store_masked_##NAME
#define MASKED(NAME, T, OP, expression) LOOP(masked, NAME, T, OP, expression)
#define MASKED_OPS(X, NAME, T) PAIR_OPS(X, NAME, T) X(NAME, T, REPLACE, ((void)a, b))
#define MASKED_FUNCTIONS(NAME, T) MASKED_STORE(NAME, T) MASKED_OPS(MASKED, NAME, T)
#define CHOOSE_MASKED(NAME, T, OP, expression) CHOICE(masked, NAME, OP)
#define CHOOSE_MASKED_PAIR(NAME, T) MASKED_OPS(CHOOSE_MASKED, NAME, T) element_types[ORIEL_##NAME].one_store = true;

// clang-format off
MASKED_PAIRS(MASKED_FUNCTIONS)
// clang-format on

/* The loops again, for processors with longer vectors. */
#define avx2_CODE __attribute__((target("avx2")))
#define avx512_CODE __attribute__((target("avx512f,avx512bw")))
#define avx2_UNROLLED _Pragma("GCC unroll 2") /* saves a tenth of the time */
#define avx512_UNROLLED avx2_UNROLLED
#define avx2_STORE plain_STORE
#define avx512_STORE plain_STORE
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
	if (__builtin_cpu_supports("avx")) {
		MASKED_PAIRS(CHOOSE_MASKED_PAIR)
	}
}
// clang-format on
#endif

static __attribute__((noinline)) void fetch_and_apply(enum oriel_type type, enum oriel_op op, uint8_t *target,
                                                      const uint8_t *origin, uint8_t *result, size_t count)
{
	const struct element_type *t = &element_types[type];

	/* One element of 2 bytes takes the loop, since memcpy reads each byte by itself. */
	if (t->one_store && !element_has_padding(type) && count > 1)
		memcpy(result, target, count * t->size_bytes);
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
