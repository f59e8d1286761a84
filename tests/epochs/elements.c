// SPDX-License-Identifier: BSD-2-Clause
/* elements.c - see elements.h. */
#include "elements.h"

#include <complex.h>
#include <string.h>

/* Pairs: X(NAME, value, index). */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 float128;
#define REAL_128(X) X(FLOAT128, float128)
#else
#define REAL_128(X)
#endif
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
#define INTEGER_128(X) X(INT128, int128)
#else
#define INTEGER_128(X)
#endif

// clang-format off
#define PAIRS(X) \
	X(FLOAT_INT, float, int) X(DOUBLE_INT, double, int) X(LONG_INT, long, int) X(INT_INT, int, int) \
	X(SHORT_INT, short, int) X(FLOAT_FLOAT, float, float) X(DOUBLE_DOUBLE, double, double)
#define INTEGERS(X) \
	X(INT8, int8_t) X(INT16, int16_t) X(INT32, int32_t) X(INT64, int64_t) \
	X(UINT8, uint8_t) X(UINT16, uint16_t) X(UINT32, uint32_t) X(UINT64, uint64_t)
#define REALS(X) X(FLOAT, float) X(DOUBLE, double) REAL_128(X)
#define COMPLEXES(X) X(FLOAT_COMPLEX, float complex) X(DOUBLE_COMPLEX, double complex)
// clang-format on

#define PAIR_STRUCT(NAME, V, I) \
	struct pair_##NAME {        \
		V value;                \
		I index;                \
	};
PAIRS(PAIR_STRUCT)

static const struct {
	enum oriel_type type;
	size_t size_bytes;
	bool whole;
	bool pair;
} types[] = {
#define INTEGER_ROW(NAME, T) { ORIEL_##NAME, sizeof(T), true, false },
#define OTHER_ROW(NAME, T) { ORIEL_##NAME, sizeof(T), false, false },
#define PAIR_ROW(NAME, V, I) { ORIEL_##NAME, sizeof(struct pair_##NAME), false, true },
	INTEGERS(INTEGER_ROW) INTEGER_128(INTEGER_ROW) INTEGER_ROW(BOOL, uint8_t) REALS(OTHER_ROW) COMPLEXES(OTHER_ROW)
		PAIRS(PAIR_ROW)
};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

static int row_of(enum oriel_type type)
{
	int row = 0;

	while (types[row].type != type)
		row++;
	return row;
}

/* 64-bit integers and doubles more often than the rest. */
enum oriel_type elements_some_type(struct rng *rng)
{
	switch (rng_below(rng, 6)) {
	case 0:
		return ORIEL_INT64;
	case 1:
		return ORIEL_DOUBLE;
	default:
		return types[rng_below(rng, TYPES)].type;
	}
}

size_t elements_bytes(enum oriel_type type)
{
	return types[row_of(type)].size_bytes;
}

bool elements_are_whole(enum oriel_type type)
{
	return types[row_of(type)].whole;
}

bool elements_are_padded(enum oriel_type type)
{
	return type == ORIEL_DOUBLE_INT || type == ORIEL_LONG_INT || type == ORIEL_SHORT_INT;
}

/* Returns an operation that is defined for the type, other than replace and no_op. */
static enum oriel_op own_op(struct rng *rng, enum oriel_type type)
{
	int row = row_of(type);

	if (types[row].pair)
		return rng_chance(rng, 1, 2) ? ORIEL_MINLOC : ORIEL_MAXLOC;
	if (type == ORIEL_BOOL)
		return (enum oriel_op)(ORIEL_LAND + (int)rng_below(rng, 3));
	if (types[row].whole)
		return (enum oriel_op)(ORIEL_SUM + (int)rng_below(rng, ORIEL_BXOR - ORIEL_SUM + 1));
	if (type == ORIEL_FLOAT || type == ORIEL_DOUBLE || type == ORIEL_FLOAT128)
		return (enum oriel_op)(ORIEL_SUM + (int)rng_below(rng, 4));
	return rng_chance(rng, 1, 2) ? ORIEL_SUM : ORIEL_PROD;
}

enum oriel_op elements_some_op(struct rng *rng, enum oriel_type type, bool fresh, bool reads)
{
	bool number = elements_are_whole(type) || !fresh;

	if (reads && rng_chance(rng, 1, 8))
		return ORIEL_NO_OP;
	return !number || rng_chance(rng, 1, 8) ? ORIEL_REPLACE : own_op(rng, type);
}

enum oriel_op elements_some_shared_op(struct rng *rng, enum oriel_type type)
{
	enum oriel_op op = own_op(rng, type);

	return op == ORIEL_PROD && !elements_are_whole(type) ? ORIEL_SUM : op; /* those could be rounded */
}

/* Values. */

static double small_value(struct rng *rng)
{
	static const double values[] = { 1, 2, 3, 0.5, -1, -2, -3, 4 };

	return values[rng_below(rng, 8)];
}

static void fill_one(enum oriel_type type, uint8_t *to, struct rng *rng)
{
	switch (type) {
#define FILL_NUMBER(NAME, T)                                                             \
	case ORIEL_##NAME: {                                                                 \
		T value = (T)(small_value(rng) + (double)(ORIEL_##NAME % 2) * small_value(rng)); \
		memcpy(to, &value, sizeof(value));                                               \
		break;                                                                           \
	}
		REALS(FILL_NUMBER)
#undef FILL_NUMBER
#define FILL_COMPLEX(NAME, T)                                   \
	case ORIEL_##NAME: {                                        \
		T value = (T)(small_value(rng) + I * small_value(rng)); \
		memcpy(to, &value, sizeof(value));                      \
		break;                                                  \
	}
		COMPLEXES(FILL_COMPLEX)
#define FILL_PAIR(NAME, V, IDX)                                \
	case ORIEL_##NAME: {                                       \
		struct pair_##NAME pair;                               \
		memset(&pair, (int)rng_below(rng, 256), sizeof(pair)); \
		pair.value = (V)(2 * small_value(rng));                \
		pair.index = (IDX)rng_below(rng, 5);                   \
		memcpy(to, &pair, sizeof(pair));                       \
		break;                                                 \
	}
		PAIRS(FILL_PAIR)
	default:
		random_fill(to, types[row_of(type)].size_bytes, rng_next(rng));
	}
}

void elements_fill(enum oriel_type type, uint8_t *to, size_t size_bytes, uint64_t seed)
{
	struct rng rng = { seed };
	size_t each = elements_bytes(type);

	for (size_t at = 0; at + each <= size_bytes; at += each)
		fill_one(type, to + at, &rng);
}

/* Operations. */

static uint64_t logical(enum oriel_op op, bool a, bool b)
{
	if (op == ORIEL_LAND)
		return a && b;
	return op == ORIEL_LOR ? a || b : a != b;
}

#define APPLY_INTEGER_AS(U, NAME, T)                  \
	static T apply_##NAME(enum oriel_op op, T a, T b) \
	{                                                 \
		switch (op) {                                 \
		case ORIEL_SUM:                               \
			return (T)((U)a + (U)b);                  \
		case ORIEL_PROD:                              \
			return (T)((U)a * (U)b);                  \
		case ORIEL_MIN:                               \
			return a < b ? a : b;                     \
		case ORIEL_MAX:                               \
			return a > b ? a : b;                     \
		case ORIEL_BAND:                              \
			return (T)(a & b);                        \
		case ORIEL_BOR:                               \
			return (T)(a | b);                        \
		case ORIEL_BXOR:                              \
			return (T)(a ^ b);                        \
		default:                                      \
			return (T)logical(op, a != 0, b != 0);    \
		}                                             \
	}
#define APPLY_INTEGER(NAME, T) APPLY_INTEGER_AS(uint64_t, NAME, T)
#define APPLY_LARGE(NAME, T) APPLY_INTEGER_AS(uint128, NAME, T)
INTEGERS(APPLY_INTEGER)
INTEGER_128(APPLY_LARGE)

static uint8_t apply_BOOL(enum oriel_op op, uint8_t a, uint8_t b)
{
	return (uint8_t)logical(op, a != 0, b != 0);
}

#define APPLY_REAL(NAME, T)                           \
	static T apply_##NAME(enum oriel_op op, T a, T b) \
	{                                                 \
		switch (op) {                                 \
		case ORIEL_SUM:                               \
			return a + b;                             \
		case ORIEL_PROD:                              \
			return a * b;                             \
		case ORIEL_MIN:                               \
			return b < a ? b : a;                     \
		default:                                      \
			return b > a ? b : a;                     \
		}                                             \
	}
REALS(APPLY_REAL)

#define APPLY_COMPLEX(NAME, T)                        \
	static T apply_##NAME(enum oriel_op op, T a, T b) \
	{                                                 \
		return op == ORIEL_SUM ? a + b : a * b;       \
	}
COMPLEXES(APPLY_COMPLEX)

#define APPLY_PAIR(NAME, V, IDX)                                                                           \
	static struct pair_##NAME apply_##NAME(enum oriel_op op, struct pair_##NAME a, struct pair_##NAME b) { \
		if (op == ORIEL_REPLACE)                                                                           \
			return b;                                                                                      \
		if (a.value == b.value)                                                                            \
			return a.index <= b.index ? a : b;                                                             \
		return (a.value < b.value) == (op == ORIEL_MINLOC) ? a : b;                                        \
	}
PAIRS(APPLY_PAIR)

/* Fields only. */
#define STORE_PAIR(NAME, V, IDX)                                                         \
	case ORIEL_##NAME: {                                                                 \
		struct pair_##NAME a, b;                                                         \
		memcpy(&a, target, sizeof(a));                                                   \
		memcpy(&b, origin, sizeof(b));                                                   \
		a = apply_##NAME(op, a, b);                                                      \
		memcpy(target + offsetof(struct pair_##NAME, value), &a.value, sizeof(a.value)); \
		memcpy(target + offsetof(struct pair_##NAME, index), &a.index, sizeof(a.index)); \
		return;                                                                          \
	}
#define STORE_NUMBER(NAME, T)          \
	case ORIEL_##NAME: {               \
		T a, b;                        \
		memcpy(&a, target, sizeof(a)); \
		memcpy(&b, origin, sizeof(b)); \
		a = apply_##NAME(op, a, b);    \
		memcpy(target, &a, sizeof(a)); \
		return;                        \
	}

void elements_apply(enum oriel_type type, enum oriel_op op, uint8_t *target, const uint8_t *origin)
{
	if (op == ORIEL_NO_OP)
		return;
	if (op == ORIEL_REPLACE && !types[row_of(type)].pair) {
		memcpy(target, origin, elements_bytes(type));
		return;
	}
	switch (type) {
		INTEGERS(STORE_NUMBER)
		INTEGER_128(STORE_NUMBER)
		STORE_NUMBER(BOOL, uint8_t)
		REALS(STORE_NUMBER)
		COMPLEXES(STORE_NUMBER)
		PAIRS(STORE_PAIR)
	default:
		return;
	}
}
