// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_element.c - every operation on every type, plain and atomic: lib/op/element*.c
 *
 * The reference is another way to compute: integers by numbers of 128 bits, floating ones by what C
 * makes of the operators, pairs field by field.
 */
#include <CUnit/CUnit.h>
#include <complex.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "op/acc.h"
#include "op/element.h"
#include "suites.h"

#define COUNT 5
#define GUARD 0xa5
#define ROOM ((COUNT + 2) * ELEMENT_BYTES_MAX)

__extension__ typedef __int128 wide;

/* Three arrays of COUNT elements between guards, at an offset from an aligned address. */
struct arrays {
	_Alignas(64) uint8_t target[ROOM];
	_Alignas(64) uint8_t origin[ROOM];
	_Alignas(64) uint8_t result[ROOM];
};

typedef void apply_fn(enum oriel_type type, enum oriel_op op, void *target, const void *origin, void *result,
                      size_t count);

/* Values of an integer type that meet every edge: 0, 1, the extremes, both signs. */
static uint64_t integer_value(int i)
{
	static const uint64_t values[] = { 0, 1, UINT64_MAX, 0x8000000000000000, 0x7f7f7f7f7f7f7f7f, 0x80, 7 };

	return values[(unsigned)i % (sizeof(values) / sizeof(values[0]))];
}

/* The number in the low `bytes` bytes. */
static wide integer_read(const void *from, size_t bytes, bool is_signed)
{
	uint64_t raw = 0;

	memcpy(&raw, from, bytes);
	if (is_signed)
		return (int64_t)(raw << (64 - 8 * bytes)) >> (64 - 8 * bytes);
	return raw;
}

static wide integer_expected(enum oriel_op op, wide a, wide b)
{
	switch (op) {
	case ORIEL_SUM:
		return a + b;
	case ORIEL_PROD:
		return (wide)((uint64_t)a * (uint64_t)b);
	case ORIEL_MIN:
		return a < b ? a : b;
	case ORIEL_MAX:
		return a > b ? a : b;
	case ORIEL_LAND:
		return a != 0 && b != 0;
	case ORIEL_LOR:
		return a != 0 || b != 0;
	case ORIEL_LXOR:
		return (a != 0) != (b != 0);
	case ORIEL_BAND:
		return a & b;
	case ORIEL_BOR:
		return a | b;
	case ORIEL_BXOR:
		return a ^ b;
	case ORIEL_REPLACE:
		return b;
	default:
		return a;
	}
}

static void integer_case(apply_fn *apply, enum oriel_type type, enum oriel_op op, size_t shift)
{
	size_t bytes = oriel_type_bytes(type);
	bool is_signed = type <= ORIEL_INT64;
	struct arrays m;

	for (int round = 0; round < 49; round += COUNT) {
		memset(&m, GUARD, sizeof(m));
		for (int i = 0; i < COUNT; i++) {
			uint64_t a = integer_value((round + i) / 7), b = integer_value((round + i) % 7);

			memcpy(m.target + shift + (size_t)i * bytes, &a, bytes);
			memcpy(m.origin + shift + (size_t)i * bytes, &b, bytes);
		}
		memset(m.target + shift + COUNT * bytes, GUARD, 8);
		apply(type, op, m.target + shift, m.origin + shift, m.result + shift, COUNT);
		for (int i = 0; i < COUNT; i++) {
			size_t at = shift + (size_t)i * bytes;
			uint64_t before = integer_value((round + i) / 7);
			wide a = integer_read(&before, bytes, is_signed), b = integer_read(m.origin + at, bytes, is_signed);
			wide expected = integer_expected(op, a, b);

			CU_ASSERT(memcmp(m.result + at, &before, bytes) == 0);
			CU_ASSERT(memcmp(m.target + at, &expected, bytes) == 0);
		}
		CU_ASSERT(m.target[shift + COUNT * bytes] == GUARD && (shift == 0 || m.target[shift - 1] == GUARD));
	}
}

#ifdef __SIZEOF_INT128__
/* Those of 16 bytes: sums and products wrap, the rest is as of the others. */
static void large_integer_case(apply_fn *apply, enum oriel_type type, enum oriel_op op, size_t shift)
{
	__extension__ typedef unsigned __int128 uwide;
	struct arrays m;

	for (int turn = 0; turn < 49; turn++) {
		wide a[COUNT], b[COUNT], old, got, expected;

		memset(&m, GUARD, sizeof(m));
		for (int i = 0; i < COUNT; i++) {
			a[i] = (wide)((uwide)integer_value(turn) << 64 | integer_value(turn + i));
			b[i] = (wide)((uwide)integer_value(turn / 7 + i) << 64 | integer_value(turn % 5));
		}
		memcpy(m.target + shift, a, sizeof(a));
		memcpy(m.origin + shift, b, sizeof(b));
		apply(type, op, m.target + shift, m.origin + shift, m.result + shift, COUNT);
		for (int i = 0; i < COUNT; i++) {
			memcpy(&old, m.result + shift + (size_t)i * sizeof(old), sizeof(old));
			memcpy(&got, m.target + shift + (size_t)i * sizeof(got), sizeof(got));
			if (op == ORIEL_SUM)
				expected = (wide)((uwide)a[i] + (uwide)b[i]);
			else if (op == ORIEL_PROD)
				expected = (wide)((uwide)a[i] * (uwide)b[i]);
			else
				expected = integer_expected(op, a[i], b[i]);
			CU_ASSERT(old == a[i] && got == expected);
		}
		CU_ASSERT(m.target[shift + sizeof(a)] == GUARD);
	}
}
#endif

/* Floating and complex types: the same expressions over the same values. */
#define FLOATING_CASE(name, T, MIN_MAX)                                                               \
	static void name(apply_fn *apply, enum oriel_type type, enum oriel_op op, size_t shift)           \
	{                                                                                                 \
		static const T values[] = { (T)0.0, (T)1.5, (T)-2.25, (T)1e30, (T)-7.0 };                     \
		struct arrays m;                                                                              \
                                                                                                      \
		for (int turn = 0; turn < 5; turn++) {                                                        \
			memset(&m, GUARD, sizeof(m));                                                             \
			for (int i = 0; i < COUNT; i++) {                                                         \
				memcpy(m.target + shift + (size_t)i * sizeof(T), &values[i], sizeof(T));              \
				memcpy(m.origin + shift + (size_t)i * sizeof(T), &values[(i + turn) % 5], sizeof(T)); \
			}                                                                                         \
			apply(type, op, m.target + shift, m.origin + shift, m.result + shift, COUNT);             \
			for (int i = 0; i < COUNT; i++) {                                                         \
				T a = values[i], b = values[(i + turn) % 5], got, old, expected = a;                  \
                                                                                                      \
				memcpy(&got, m.target + shift + (size_t)i * sizeof(T), sizeof(T));                    \
				memcpy(&old, m.result + shift + (size_t)i * sizeof(T), sizeof(T));                    \
				if (op == ORIEL_SUM)                                                                  \
					expected = a + b;                                                                 \
				if (op == ORIEL_PROD)                                                                 \
					expected = a * b;                                                                 \
				if (op == ORIEL_REPLACE)                                                              \
					expected = b;                                                                     \
				MIN_MAX                                                                               \
				CU_ASSERT(old == a);                                                                  \
				CU_ASSERT(got == expected);                                                           \
			}                                                                                         \
			CU_ASSERT(m.target[shift + COUNT * sizeof(T)] == GUARD);                                  \
		}                                                                                             \
	}

#define WITH_MIN_MAX              \
	if (op == ORIEL_MIN)          \
		expected = a < b ? a : b; \
	if (op == ORIEL_MAX)          \
		expected = a > b ? a : b;

FLOATING_CASE(float_case, float, WITH_MIN_MAX)
FLOATING_CASE(double_case, double, WITH_MIN_MAX)
FLOATING_CASE(long_double_case, long double, WITH_MIN_MAX)
FLOATING_CASE(float_complex_case, float complex, )
FLOATING_CASE(double_complex_case, double complex, )
FLOATING_CASE(long_double_complex_case, long double complex, )
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
typedef _Complex float quad_complex __attribute__((mode(TC)));
FLOATING_CASE(quad_case, quad, WITH_MIN_MAX)
FLOATING_CASE(quad_complex_case, quad_complex, )
#endif

/* Pairs: smaller, larger, equal values with either index lower; every byte that is padding stays. */
#define PAIR_CASE(name, V, I)                                                                           \
	static void name(apply_fn *apply, enum oriel_type type, enum oriel_op op, size_t shift)             \
	{                                                                                                   \
		struct pair {                                                                                   \
			V value;                                                                                    \
			I index;                                                                                    \
		};                                                                                              \
		static const struct pair mine[COUNT] = { { 1, 5 }, { 2, 5 }, { 3, 5 }, { 3, 9 }, { 4, 4 } };    \
		static const struct pair theirs[COUNT] = { { 2, 1 }, { 1, 1 }, { 3, 9 }, { 3, 5 }, { 4, 4 } };  \
		const size_t index_at = offsetof(struct pair, index), end = index_at + sizeof(I);               \
		struct arrays m;                                                                                \
		V value; /* a long double has padding, which does not count */                                  \
                                                                                                        \
		memset(&m, GUARD, sizeof(m));                                                                   \
		for (size_t i = 0; i < COUNT; i++) {                                                            \
			memcpy(m.target + shift + i * sizeof(struct pair), &theirs[i].value, sizeof(V));            \
			memcpy(m.target + shift + i * sizeof(struct pair) + index_at, &theirs[i].index, sizeof(I)); \
			memcpy(m.origin + shift + i * sizeof(struct pair), &mine[i].value, sizeof(V));              \
			memcpy(m.origin + shift + i * sizeof(struct pair) + index_at, &mine[i].index, sizeof(I));   \
		}                                                                                               \
		apply(type, op, m.target + shift, m.origin + shift, m.result + shift, COUNT);                   \
		for (size_t i = 0; i < COUNT; i++) {                                                            \
			const uint8_t *at = m.target + shift + i * sizeof(struct pair);                             \
			bool less = mine[i].value<theirs[i].value, more = mine[i].value> theirs[i].value;           \
			bool lower = !less && !more && mine[i].index < theirs[i].index;                             \
			bool taken = op == ORIEL_REPLACE || (op == ORIEL_MINLOC && (less || lower)) ||              \
			             (op == ORIEL_MAXLOC && (more || lower));                                       \
			const struct pair *expected = taken ? &mine[i] : &theirs[i];                                \
                                                                                                        \
			memcpy(&value, at, sizeof(V));                                                              \
			CU_ASSERT(value == expected->value);                                                        \
			CU_ASSERT(memcmp(at + index_at, &expected->index, sizeof(I)) == 0);                         \
			for (size_t pad = sizeof(V); pad < sizeof(struct pair); pad++)                              \
				CU_ASSERT((pad >= index_at && pad < end) || at[pad] == GUARD);                          \
			at = m.result + shift + i * sizeof(struct pair);                                            \
			memcpy(&value, at, sizeof(V));                                                              \
			CU_ASSERT(value == theirs[i].value);                                                        \
			CU_ASSERT(memcmp(at + index_at, &theirs[i].index, sizeof(I)) == 0);                         \
		}                                                                                               \
	}

PAIR_CASE(float_int_case, float, int)
PAIR_CASE(double_int_case, double, int)
PAIR_CASE(long_int_case, long, int)
PAIR_CASE(int_int_case, int, int)
PAIR_CASE(short_int_case, short, int)
PAIR_CASE(long_double_int_case, long double, int)
PAIR_CASE(float_float_case, float, float)
PAIR_CASE(double_double_case, double, double)

typedef void case_fn(apply_fn *apply, enum oriel_type type, enum oriel_op op, size_t shift);

#define ARITHMETIC (1u << ORIEL_SUM | 1u << ORIEL_PROD)
#define ORDER (1u << ORIEL_MIN | 1u << ORIEL_MAX)
#define LOGIC (1u << ORIEL_LAND | 1u << ORIEL_LOR | 1u << ORIEL_LXOR)
#define BITWISE (1u << ORIEL_BAND | 1u << ORIEL_BOR | 1u << ORIEL_BXOR)
#define LOCATION (1u << ORIEL_MINLOC | 1u << ORIEL_MAXLOC)
#define ALWAYS (1u << ORIEL_REPLACE | 1u << ORIEL_NO_OP)

static const struct {
	enum oriel_type type;
	case_fn *run;
	size_t bytes;
	unsigned ops;
} types[] = {
	{ ORIEL_INT8, integer_case, 1, ARITHMETIC | ORDER | LOGIC | BITWISE },
	{ ORIEL_INT16, integer_case, 2, ARITHMETIC | ORDER | LOGIC | BITWISE },
	{ ORIEL_INT32, integer_case, 4, ARITHMETIC | ORDER | LOGIC | BITWISE },
	{ ORIEL_INT64, integer_case, 8, ARITHMETIC | ORDER | LOGIC | BITWISE },
	{ ORIEL_UINT8, integer_case, 1, ARITHMETIC | ORDER | LOGIC | BITWISE },
	{ ORIEL_UINT16, integer_case, 2, ARITHMETIC | ORDER | LOGIC | BITWISE },
	{ ORIEL_UINT32, integer_case, 4, ARITHMETIC | ORDER | LOGIC | BITWISE },
	{ ORIEL_UINT64, integer_case, 8, ARITHMETIC | ORDER | LOGIC | BITWISE },
	{ ORIEL_BOOL, integer_case, 1, LOGIC },
	{ ORIEL_FLOAT, float_case, sizeof(float), ARITHMETIC | ORDER },
	{ ORIEL_DOUBLE, double_case, sizeof(double), ARITHMETIC | ORDER },
	{ ORIEL_LONG_DOUBLE, long_double_case, sizeof(long double), ARITHMETIC | ORDER },
	{ ORIEL_FLOAT_COMPLEX, float_complex_case, sizeof(float complex), ARITHMETIC },
	{ ORIEL_DOUBLE_COMPLEX, double_complex_case, sizeof(double complex), ARITHMETIC },
	{ ORIEL_LONG_DOUBLE_COMPLEX, long_double_complex_case, sizeof(long double complex), ARITHMETIC },
	{ ORIEL_FLOAT_INT, float_int_case, 8, LOCATION },
	{ ORIEL_DOUBLE_INT, double_int_case, 16, LOCATION },
	{ ORIEL_LONG_INT, long_int_case, 16, LOCATION },
	{ ORIEL_INT_INT, int_int_case, 8, LOCATION },
	{ ORIEL_SHORT_INT, short_int_case, 8, LOCATION },
	{ ORIEL_LONG_DOUBLE_INT, long_double_int_case, 2 * sizeof(long double), LOCATION },
	{ ORIEL_FLOAT_FLOAT, float_float_case, 8, LOCATION },
	{ ORIEL_DOUBLE_DOUBLE, double_double_case, 16, LOCATION },
#ifdef __SIZEOF_INT128__
	{ ORIEL_INT128, large_integer_case, 16, ARITHMETIC | ORDER | LOGIC | BITWISE },
#endif
#ifdef __SIZEOF_FLOAT128__
	{ ORIEL_FLOAT128, quad_case, 16, ARITHMETIC | ORDER },
	{ ORIEL_FLOAT128_COMPLEX, quad_complex_case, 32, ARITHMETIC },
#endif
};

#define TYPES (sizeof(types) / sizeof(types[0]))

static void test_sizes_and_legality(void)
{
	for (size_t i = 0; i < TYPES; i++) {
		CU_ASSERT_EQUAL(oriel_type_bytes(types[i].type), types[i].bytes);
		for (int op = 0; op <= ORIEL_NO_OP + 1; op++)
			CU_ASSERT_EQUAL(oriel_op_legal((enum oriel_op)op, types[i].type), (types[i].ops | ALWAYS) >> op & 1);
		CU_ASSERT_EQUAL(oriel_op_legal((enum oriel_op) - 1, types[i].type), 0);
	}
	for (int none = -2; none < 40; none += none == 0 ? ELEMENT_TYPES : 1) {
		CU_ASSERT_EQUAL(oriel_type_bytes((enum oriel_type)none), 0);
		CU_ASSERT_EQUAL(oriel_op_legal(ORIEL_SUM, (enum oriel_type)none), 0);
	}
}

/* Every legal pair of the table, at every offset. */
static void run_all(apply_fn *apply, bool atomic)
{
	for (size_t i = 0; i < TYPES; i++) {
		for (int op = ORIEL_SUM; op <= ORIEL_NO_OP; op++) {
			for (size_t shift = 0; shift <= 16; shift++) {
				if (!((types[i].ops | ALWAYS) >> op & 1))
					continue;
				if (atomic && !acc_are_words(types[i].type, shift))
					continue;
				types[i].run(apply, types[i].type, (enum oriel_op)op, shift);
			}
		}
	}
}

static void test_plain(void)
{
	run_all(element_apply, false);
}

static void test_atomic(void)
{
	run_all(element_apply_atomic, true);
}

/* Without a result the same, and nothing is written elsewhere. */
static void test_no_result(void)
{
	int64_t target[3] = { 1, 2, 3 }, plain[3] = { 1, 2, 3 };
	static const int64_t origin[3] = { 10, 20, 30 };
	uint64_t bits = 0xf0, mask = 0x3c;

	element_apply(ORIEL_INT64, ORIEL_SUM, plain, origin, NULL, 3);
	element_apply_atomic(ORIEL_INT64, ORIEL_SUM, target, origin, NULL, 3);
	CU_ASSERT(target[0] == 11 && target[1] == 22 && target[2] == 33 && memcmp(plain, target, sizeof(plain)) == 0);
	element_apply_atomic(ORIEL_UINT64, ORIEL_BXOR, &bits, &mask, NULL, 1);
	CU_ASSERT_EQUAL(bits, 0xcc);
}

/* Min and max with a NaN give one of the two operands; a sum with one is NaN. */
static void test_nan(void)
{
	for (int i = 0; i < 4; i++) {
		double a = i & 1 ? (double)NAN : 1.0, b = i & 1 ? 1.0 : (double)NAN, target = a;

		element_apply(ORIEL_DOUBLE, i & 2 ? ORIEL_MIN : ORIEL_MAX, &target, &b, NULL, 1);
		CU_ASSERT(memcmp(&target, &a, sizeof(a)) == 0 || memcmp(&target, &b, sizeof(b)) == 0);
		target = a;
		element_apply(ORIEL_DOUBLE, ORIEL_SUM, &target, &b, NULL, 1);
		CU_ASSERT(isnan(target));
	}
}

/*
 * Numbers and words in vectors. The reference is each element by itself. Of a NaN there is one
 * kind, since a sum of two may be either.
 */
#define MANY 300 /* two turns of the longest vectors of bytes, and some */

static void fill_numbers(enum oriel_type type, uint8_t *to, size_t count, size_t step)
{
	static const double values[] = { 1, -0.0, 0.0, (double)NAN, 1e30, -2.5, (double)INFINITY, 3e-45, -1e30, 1.0 / 3 };

	for (size_t i = 0; i < count; i++) {
		double value = values[i * step % (sizeof(values) / sizeof(values[0]))];
		float small = (float)value;
		uint64_t whole = i * step * 0x9e3779b97f4a7c15;
		const void *from = type == ORIEL_FLOAT ? (void *)&small : type == ORIEL_DOUBLE ? (void *)&value : &whole;

		memcpy(to + i * oriel_type_bytes(type), from, oriel_type_bytes(type));
	}
}

static void run_many(enum oriel_type type, enum oriel_op op, size_t count, size_t shift)
{
	static _Alignas(64) uint8_t target[(MANY + 2) * 8], expected[sizeof(target)], origin[sizeof(target)];
	size_t bytes = oriel_type_bytes(type);

	memset(target, GUARD, sizeof(target));
	fill_numbers(type, target + shift, count, 3);
	fill_numbers(type, origin, count, 7);
	memcpy(expected, target, sizeof(target));
	for (size_t i = 0; i < count; i++)
		element_apply(type, op, expected + shift + i * bytes, origin + i * bytes, NULL, 1);
	element_apply(type, op, target + shift, origin, NULL, count);
	CU_ASSERT(memcmp(target, expected, sizeof(target)) == 0);
}

static void test_many(void)
{
	for (size_t count = 1; count <= MANY; count++) {
		for (int type = ORIEL_INT8; type <= ORIEL_DOUBLE; type++) {
			for (int op = ORIEL_SUM; op <= ORIEL_BXOR; op++) {
				if (element_types[type].one_store && oriel_op_legal((enum oriel_op)op, (enum oriel_type)type))
					run_many((enum oriel_type)type, (enum oriel_op)op, count,
					         count * oriel_type_bytes((enum oriel_type)type) % 16);
			}
		}
	}
}

/* An operand that overlaps the target is read element by element, in order. */
static void test_many_in_order(void)
{
	double numbers[MANY + 1] = { 1 };
	int8_t bytes[MANY + 1] = { 1 };

	element_apply(ORIEL_DOUBLE, ORIEL_SUM, numbers + 1, numbers, NULL, MANY);
	element_apply(ORIEL_INT8, ORIEL_SUM, bytes + 1, bytes, NULL, MANY);
	for (int i = 0; i <= MANY; i++)
		CU_ASSERT(numbers[i] == 1 && bytes[i] == 1);
}

static void swap_case(enum oriel_type type, bool atomic)
{
	size_t bytes = oriel_type_bytes(type);
	_Alignas(16) uint8_t target[48];
	const uint64_t first[] = { 0x1122334455667788, 0x23456789abcdef01 };
	const uint64_t second[] = { 0x99aabbccddeeff00, 0xfedcba9876543210 };
	uint64_t result[2];

	for (int equal = 0; equal <= 1; equal++) {
		uint8_t compare[sizeof(first)];

		memcpy(compare, first, sizeof(first));
		if (!equal)
			compare[bytes - 1] ^= 0x80;
		memset(target, GUARD, sizeof(target));
		memcpy(target + 16, first, bytes);
		if (atomic)
			element_swap_atomic(target + 16, second, compare, result);
		else
			element_swap(type, target + 16, second, compare, result);
		CU_ASSERT(memcmp(result, first, bytes) == 0);
		CU_ASSERT(memcmp(target + 16, equal ? second : first, bytes) == 0);
		CU_ASSERT(target[15] == GUARD && target[16 + bytes] == GUARD);
	}
}

static void test_swap(void)
{
	for (int type = ORIEL_INT8; type < ELEMENT_TYPES; type++) {
		const bool integer = type <= ORIEL_BOOL || type == ORIEL_INT128;

		CU_ASSERT_EQUAL(element_types[type].comparable, integer && oriel_type_bytes((enum oriel_type)type) > 0);
		if (element_types[type].comparable)
			swap_case((enum oriel_type)type, false);
		if (acc_is_word((enum oriel_type)type))
			swap_case((enum oriel_type)type, true);
	}
}

/* A span ends with the last field of the last pair. */
static void test_span(void)
{
	CU_ASSERT_EQUAL(element_span(ORIEL_DOUBLE, 3), 24);
	CU_ASSERT_EQUAL(element_span(ORIEL_LONG_INT, 1), 12);
	CU_ASSERT_EQUAL(element_span(ORIEL_DOUBLE_INT, 2), 28);
	CU_ASSERT_EQUAL(element_span(ORIEL_SHORT_INT, 1), 8);
	CU_ASSERT_EQUAL(element_span(ORIEL_LONG_DOUBLE_INT, 1), sizeof(long double) + sizeof(int));
}

/* Unaligned elements have one store on x86-64 alone. */
#ifdef __x86_64__
#define UNALIGNED ACC_NUMBER
#define MASKED (__builtin_cpu_supports("avx") ? ACC_NUMBER : ACC_REST)
#else
#define UNALIGNED ACC_REST
#define MASKED ACC_REST
#endif

static void test_classes(void)
{
	CU_ASSERT_EQUAL(acc_class(ORIEL_INT64, 16), ACC_WORD);
	CU_ASSERT_EQUAL(acc_class(ORIEL_UINT64, 8), ACC_WORD);
	CU_ASSERT_EQUAL(acc_class(ORIEL_UINT64, 4), UNALIGNED);
	CU_ASSERT_EQUAL(acc_class(ORIEL_DOUBLE, 8), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_FLOAT, 12), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_FLOAT, 2), UNALIGNED);
	CU_ASSERT_EQUAL(acc_class(ORIEL_INT32, 4), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_BOOL, 3), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_FLOAT_COMPLEX, 8), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_FLOAT_COMPLEX, 4), UNALIGNED);
	CU_ASSERT_EQUAL(acc_class(ORIEL_DOUBLE_COMPLEX, 16), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_DOUBLE_COMPLEX, 8), UNALIGNED);
	CU_ASSERT_EQUAL(acc_class(ORIEL_LONG_DOUBLE, 16), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_INT_INT, 8), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_DOUBLE_DOUBLE, 16), ACC_NUMBER);
	CU_ASSERT_EQUAL(acc_class(ORIEL_DOUBLE_INT, 16), MASKED);
	CU_ASSERT_EQUAL(acc_class(ORIEL_LONG_DOUBLE_INT, 32), MASKED);
	CU_ASSERT_EQUAL(acc_class(ORIEL_SHORT_INT, 8), ACC_REST); /* padding between its fields */
	CU_ASSERT_EQUAL(acc_class(ORIEL_LONG_DOUBLE_COMPLEX, 32), ACC_REST);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STEPPED 9 /* elements: a turn of the longest vectors of most types, and a rest */
#define FLAG_TRAP 0x100

/* What is looked at behind each instruction. */
static struct {
	uint8_t target[STEPPED * ELEMENT_BYTES_MAX + 32], before[STEPPED * ELEMENT_BYTES_MAX + 32],
		after[STEPPED * ELEMENT_BYTES_MAX + 32];
	size_t shift, bytes;
	int steps, mixtures;
} stepped;

static void look(int signal_number, siginfo_t *info, void *context)
{
	(void)signal_number;
	(void)info;
	(void)context;
	stepped.steps++;
	for (size_t i = 0, at = stepped.shift; i < STEPPED; i++, at += stepped.bytes) {
		if (memcmp(stepped.target + at, stepped.before + at, stepped.bytes) != 0 &&
		    memcmp(stepped.target + at, stepped.after + at, stepped.bytes) != 0)
			stepped.mixtures++;
	}
}

static void turn_stepping(int signal_number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal_number;
	(void)info;
	at->uc_mcontext.gregs[REG_EFL] ^= FLAG_TRAP;
}

static void step_through(enum oriel_type type, enum oriel_op op, size_t shift)
{
	static uint8_t origin[sizeof(stepped.target)];

	stepped.shift = shift;
	stepped.bytes = element_types[type].size_bytes;
	for (size_t i = 0; i < sizeof(stepped.target); i++) {
		stepped.target[i] = (uint8_t)(i * 7 % 64 + 1);
		origin[i] = (uint8_t)(i * 5 % 64 + 1);
	}
	memcpy(stepped.before, stepped.target, sizeof(stepped.target));
	memcpy(stepped.after, stepped.target, sizeof(stepped.target));
	element_apply(type, op, stepped.after + shift, origin, NULL, STEPPED);
	raise(SIGUSR1);
	element_apply(type, op, stepped.target + shift, origin, NULL, STEPPED);
	raise(SIGUSR1);
	if (memcmp(stepped.target, stepped.after, sizeof(stepped.target)) != 0 || stepped.mixtures) {
		fprintf(stderr, "%s of %s at %zu: %d times a part of an element was changed\n", element_op_name(op),
		        element_type_name(type), shift, stepped.mixtures);
		CU_FAIL("an element has more than one store");
		stepped.mixtures = 0;
	}
}

/* A21: a rank may die behind any instruction. Valgrind runs the elements without stopping. */
static void test_one_store(void)
{
	struct sigaction trap = { .sa_sigaction = look, .sa_flags = SA_SIGINFO }, old_trap;
	struct sigaction turn = { .sa_sigaction = turn_stepping, .sa_flags = SA_SIGINFO }, old_turn;

	sigaction(SIGTRAP, &trap, &old_trap);
	sigaction(SIGUSR1, &turn, &old_turn);
	for (size_t i = 0; i < TYPES; i++) {
		for (int op = ORIEL_SUM; element_types[types[i].type].one_store && op < ORIEL_NO_OP; op++) {
			if (oriel_op_legal((enum oriel_op)op, types[i].type)) {
				step_through(types[i].type, (enum oriel_op)op, 0);
				step_through(types[i].type, (enum oriel_op)op, 3);
			}
		}
	}
	sigaction(SIGTRAP, &old_trap, NULL);
	sigaction(SIGUSR1, &old_turn, NULL);
}
#endif

void suite_element(void)
{
	CU_pSuite suite = CU_add_suite("element", NULL, NULL);

	CU_add_test(suite, "sizes_and_legality", test_sizes_and_legality);
	CU_add_test(suite, "plain", test_plain);
	CU_add_test(suite, "atomic", test_atomic);
	CU_add_test(suite, "no_result", test_no_result);
	CU_add_test(suite, "nan", test_nan);
	CU_add_test(suite, "many", test_many);
	CU_add_test(suite, "many_in_order", test_many_in_order);
	CU_add_test(suite, "swap", test_swap);
	CU_add_test(suite, "span", test_span);
	CU_add_test(suite, "classes", test_classes);
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CU_add_test(suite, "one_store", test_one_store);
#endif
}
