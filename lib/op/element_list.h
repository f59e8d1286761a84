// SPDX-License-Identifier: BSD-2-Clause
/*
 * element_list.h - every type, and what every operation computes
 *
 * Lists of X(...), whose user defines X. In expressions `a` is the target's element and `b` the
 * origin's, both of the C type T. For element*.c only.
 */
#ifndef ORIEL_ELEMENT_LIST_H
#define ORIEL_ELEMENT_LIST_H

#include <complex.h>
#include <stdint.h>

#define PAIR(name, value_type, index_type) \
	struct name {                          \
		value_type value;                  \
		index_type index;                  \
	}

PAIR(float_int, float, int);
PAIR(double_int, double, int);
PAIR(long_int, long, int);
PAIR(int_int, int, int);
PAIR(short_int, short, int);
PAIR(long_double_int, long double, int);
PAIR(float_float, float, float);
PAIR(double_double, double, double);

/* Types: X(NAME, T). A bool is a byte, since memory may hold any. */

// clang-format off
#define WORDS(X) X(INT64, int64_t) X(UINT64, uint64_t)
#define INTEGERS(X) \
	X(INT8, int8_t) X(INT16, int16_t) X(INT32, int32_t) X(UINT8, uint8_t) X(UINT16, uint16_t) X(UINT32, uint32_t) \
	WORDS(X)
#define BOOLS(X) X(BOOL, uint8_t)
#define SMALL_REALS(X) X(FLOAT, float) X(DOUBLE, double)
#define SMALL_COMPLEXES(X) X(FLOAT_COMPLEX, float complex)
#define SMALL_PAIRS(X) /* of 8 bytes without padding */ \
	X(FLOAT_INT, struct float_int) X(INT_INT, struct int_int) X(FLOAT_FLOAT, struct float_float)
#define WIDE_COMPLEXES(X) X(DOUBLE_COMPLEX, double complex)
#define WIDE_PAIRS(X) /* of 16 bytes without padding */ X(DOUBLE_DOUBLE, struct double_double)
#define MASKED_PAIRS(X) /* whose fields are all before the padding */ \
	X(DOUBLE_INT, struct double_int) X(LONG_INT, struct long_int) X(LONG_DOUBLE_INT, struct long_double_int)
#define SCATTERED_PAIRS(X) /* with padding between the fields */ X(SHORT_INT, struct short_int)

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
#define WIDE_INTEGERS(X) X(INT128, int128)
#else
#define WIDE_INTEGERS(X)
#endif
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 float128;
typedef _Complex float float128_complex __attribute__((mode(TC)));
#define REALS_128(X) X(FLOAT128, float128)
#define COMPLEXES_128(X) X(FLOAT128_COMPLEX, float128_complex)
#else
#define REALS_128(X)
#define COMPLEXES_128(X)
#endif
#define WIDE_REALS(X) X(LONG_DOUBLE, long double) REALS_128(X)
#define LARGE_COMPLEXES(X) X(LONG_DOUBLE_COMPLEX, long double complex) COMPLEXES_128(X)

#define REALS(X) SMALL_REALS(X) WIDE_REALS(X)
#define COMPLEXES(X) SMALL_COMPLEXES(X) WIDE_COMPLEXES(X) LARGE_COMPLEXES(X)
#define PAIRS(X) SMALL_PAIRS(X) WIDE_PAIRS(X) MASKED_PAIRS(X) SCATTERED_PAIRS(X)

/* Whether one instruction stores the 16 bytes of a wide type. */
#if defined(__x86_64__) || defined(__aarch64__)
#define ELEMENT_WIDE_STORE true
#else
#define ELEMENT_WIDE_STORE false
#endif

/*
 * Operations: X(NAME, T, OP, expression). Integers are added and multiplied as unsigned integers U
 * of the greatest width, and truncated, so that they wrap, and short ones do not overflow as int.
 */
#define SUM_OF(X, U, NAME, T) X(NAME, T, SUM, (T)((U)a + (U)b))
#define PRODUCT_OF(X, U, NAME, T) X(NAME, T, PROD, (T)((U)a * (U)b))
#define BITWISE_OPS(X, NAME, T) \
	X(NAME, T, BAND, (T)(a & b)) X(NAME, T, BOR, (T)(a | b)) X(NAME, T, BXOR, (T)(a ^ b))
#define INTEGER_FETCHED(X, NAME, T) /* processors have an instruction for these */ \
	SUM_OF(X, uint64_t, NAME, T) BITWISE_OPS(X, NAME, T)
#define LOGICAL(X, NAME, T) \
	X(NAME, T, LAND, (T)(a && b)) X(NAME, T, LOR, (T)(a || b)) X(NAME, T, LXOR, (T)(!a != !b))
#define EXTREMA(X, NAME, T) X(NAME, T, MIN, b < a ? b : a) X(NAME, T, MAX, b > a ? b : a)
#define INTEGER_COMPUTED(X, NAME, T) \
	PRODUCT_OF(X, uint64_t, NAME, T) EXTREMA(X, NAME, T) LOGICAL(X, NAME, T)
#define WIDE_INTEGER_OPS(X, NAME, T) \
	SUM_OF(X, uint128, NAME, T) PRODUCT_OF(X, uint128, NAME, T) BITWISE_OPS(X, NAME, T) EXTREMA(X, NAME, T) \
	LOGICAL(X, NAME, T)
#define COMPLEX_OPS(X, NAME, T) X(NAME, T, SUM, a + b) X(NAME, T, PROD, a * b)
#define REAL_OPS(X, NAME, T) COMPLEX_OPS(X, NAME, T) EXTREMA(X, NAME, T)
#define PAIR_OPS(X, NAME, T) /* of equal values the lower index wins */ \
	X(NAME, T, MINLOC, b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a) \
	X(NAME, T, MAXLOC, b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a)
// clang-format on

#endif
