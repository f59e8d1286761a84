// SPDX-License-Identifier: BSD-2-Clause
/* element.c - the properties of each type; see element.h. */
#include "op/element.h"

#include <string.h>

#include "op/element_list.h"

#define SCALAR(NAME, T, one_store_, comparable_) [ORIEL_##NAME] = { sizeof(T), sizeof(T), one_store_, comparable_ },
#define INTEGER_ROW(NAME, T) SCALAR(NAME, T, true, true)
#define SMALL_ROW(NAME, T) SCALAR(NAME, T, true, false)
#define WIDE_INTEGER_ROW(NAME, T) SCALAR(NAME, T, ELEMENT_WIDE_STORE, true)
#define WIDE_ROW(NAME, T) SCALAR(NAME, T, ELEMENT_WIDE_STORE, false)
#define LARGE_ROW(NAME, T) SCALAR(NAME, T, false, false)
#define PADDED_PAIR_ROW(NAME, T) \
	[ORIEL_##NAME] = { sizeof(T), offsetof(T, index) + sizeof(((T *)NULL)->index), false, false },

struct element_type element_types[ELEMENT_TYPES] = {
	// clang-format off
	INTEGERS(INTEGER_ROW)
	BOOLS(INTEGER_ROW)
	WIDE_INTEGERS(WIDE_INTEGER_ROW)
	SMALL_REALS(SMALL_ROW)
	WIDE_REALS(WIDE_ROW)
	SMALL_COMPLEXES(SMALL_ROW)
	WIDE_COMPLEXES(WIDE_ROW)
	LARGE_COMPLEXES(LARGE_ROW)
	SMALL_PAIRS(SMALL_ROW)
	WIDE_PAIRS(WIDE_ROW)
	MASKED_PAIRS(PADDED_PAIR_ROW)
	SCATTERED_PAIRS(PADDED_PAIR_ROW)
	// clang-format on
};

#define BIT(op) (1u << (ORIEL_##op))
#define ARITHMETIC (BIT(SUM) | BIT(PROD))
#define ORDERING (BIT(MIN) | BIT(MAX))
#define LOGIC (BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define BITWISE (BIT(BAND) | BIT(BOR) | BIT(BXOR))
#define ANYTHING (BIT(REPLACE) | BIT(NO_OP))

#define INTEGER_LEGAL(NAME, T) [ORIEL_##NAME] = ARITHMETIC | ORDERING | LOGIC | BITWISE | ANYTHING,
#define BOOL_LEGAL(NAME, T) [ORIEL_##NAME] = LOGIC | ANYTHING,
#define REAL_LEGAL(NAME, T) [ORIEL_##NAME] = ARITHMETIC | ORDERING | ANYTHING,
#define COMPLEX_LEGAL(NAME, T) [ORIEL_##NAME] = ARITHMETIC | ANYTHING,
#define PAIR_LEGAL(NAME, T) [ORIEL_##NAME] = BIT(MINLOC) | BIT(MAXLOC) | ANYTHING,

const uint16_t element_ops[ELEMENT_TYPES] = {
	// clang-format off
	INTEGERS(INTEGER_LEGAL) WIDE_INTEGERS(INTEGER_LEGAL)
	BOOLS(BOOL_LEGAL)
	REALS(REAL_LEGAL)
	COMPLEXES(COMPLEX_LEGAL)
	PAIRS(PAIR_LEGAL)
	// clang-format on
};

#define TYPE_NAME(NAME, T) [ORIEL_##NAME] = "ORIEL_" #NAME,

const char *element_type_name(enum oriel_type type)
{
	static const char *const names[ELEMENT_TYPES] = {
		// clang-format off
		INTEGERS(TYPE_NAME) WIDE_INTEGERS(TYPE_NAME) BOOLS(TYPE_NAME) REALS(TYPE_NAME) COMPLEXES(TYPE_NAME)
		PAIRS(TYPE_NAME)
		// clang-format on
	};

	return element_known(type) ? names[type] : "unknown";
}

#define OP_NAME(OP) [ORIEL_##OP] = "ORIEL_" #OP

const char *element_op_name(enum oriel_op op)
{
	static const char *const names[ELEMENT_OPS] = {
		OP_NAME(SUM),  OP_NAME(PROD), OP_NAME(MIN),  OP_NAME(MAX),    OP_NAME(LAND),   OP_NAME(LOR),     OP_NAME(LXOR),
		OP_NAME(BAND), OP_NAME(BOR),  OP_NAME(BXOR), OP_NAME(MINLOC), OP_NAME(MAXLOC), OP_NAME(REPLACE), OP_NAME(NO_OP),
	};

	return op > 0 && op < ELEMENT_OPS ? names[op] : "unknown";
}

size_t oriel_type_bytes(enum oriel_type type)
{
	return element_known(type) ? element_types[type].size_bytes : 0;
}

int oriel_op_legal(enum oriel_op op, enum oriel_type type)
{
	return element_legal(op, type);
}

/*
 * Operations on single elements that other threads and ranks change too
 *
 * Every access to a target's element is one atomic instruction of its own width, and pairs with all
 * other accesses here, in all processes. All are sequentially consistent: a thread that sees the
 * element changed sees what the origin has stored before.
 */

typedef void atomic_fn(void *target, const uint8_t *origin, uint8_t *result, size_t count);

/* Applies an operation by a compare-and-swap loop. */
#define LOOP(NAME, T, OP, expression)                                                                                  \
	static void atomic_##NAME##_##OP(void *target, const uint8_t *origin, uint8_t *result, size_t count)               \
	{                                                                                                                  \
		uint64_t *word = target, old, changed;                                                                         \
                                                                                                                       \
		for (size_t i = 0; i < count; i++) {                                                                           \
			T a, b;                                                                                                    \
                                                                                                                       \
			memcpy(&b, origin + i * sizeof(T), sizeof(T));                                                             \
			old = __atomic_load_n(&word[i], __ATOMIC_RELAXED);                                                         \
			do {                                                                                                       \
				memcpy(&a, &old, sizeof(T));                                                                           \
				a = expression;                                                                                        \
				memcpy(&changed, &a, sizeof(T));                                                                       \
			} while (!__atomic_compare_exchange_n(&word[i], &old, changed, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
			if (result)                                                                                                \
				memcpy(result + i * sizeof(T), &old, sizeof(T));                                                       \
		}                                                                                                              \
	}

/* Applies an operation by one instruction, which may be shorter without a result. */
#define FETCH(NAME, OP, instruction)                                                                     \
	static void atomic_##NAME##_##OP(void *target, const uint8_t *origin, uint8_t *result, size_t count) \
	{                                                                                                    \
		uint64_t *word = target, operand;                                                                \
                                                                                                         \
		for (size_t i = 0; !result && i < count; i++) {                                                  \
			memcpy(&operand, origin + i * sizeof(operand), sizeof(operand));                             \
			instruction(&word[i], operand, __ATOMIC_SEQ_CST);                                            \
		}                                                                                                \
		for (size_t i = 0; result && i < count; i++) {                                                   \
			memcpy(&operand, origin + i * sizeof(operand), sizeof(operand));                             \
			operand = instruction(&word[i], operand, __ATOMIC_SEQ_CST);                                  \
			memcpy(result + i * sizeof(operand), &operand, sizeof(operand));                             \
		}                                                                                                \
	}

/* The operations of all types. */
#define COMMON(NAME, T)                                                                                   \
	FETCH(NAME, REPLACE, __atomic_exchange_n)                                                             \
                                                                                                          \
	static void atomic_##NAME##_NO_OP(void *target, const uint8_t *origin, uint8_t *result, size_t count) \
	{                                                                                                     \
		uint64_t *word = target;                                                                          \
                                                                                                          \
		(void)origin;                                                                                     \
		for (size_t i = 0; i < count; i++) {                                                              \
			uint64_t old = __atomic_load_n(&word[i], __ATOMIC_SEQ_CST);                                   \
                                                                                                          \
			memcpy(result + i * sizeof(old), &old, sizeof(old));                                          \
		}                                                                                                 \
	}

#define FETCHED(NAME, T)                  \
	FETCH(NAME, SUM, __atomic_fetch_add)  \
	FETCH(NAME, BAND, __atomic_fetch_and) \
	FETCH(NAME, BOR, __atomic_fetch_or)   \
	FETCH(NAME, BXOR, __atomic_fetch_xor)

#define ROW(NAME, T, OP, expression) [ORIEL_##NAME][ORIEL_##OP] = atomic_##NAME##_##OP,
#define COMMON_ROWS(NAME, T) ROW(NAME, T, REPLACE, ) ROW(NAME, T, NO_OP, )

#define INTEGER(NAME, T) FETCHED(NAME, T) INTEGER_COMPUTED(LOOP, NAME, T)
#define INTEGER_ROWS(NAME, T) INTEGER_FETCHED(ROW, NAME, T) INTEGER_COMPUTED(ROW, NAME, T)

// clang-format off
WORDS(INTEGER)
WORDS(COMMON)

static atomic_fn *const atomic[ELEMENT_TYPES][ELEMENT_OPS] = {
	WORDS(INTEGER_ROWS)
	WORDS(COMMON_ROWS)
};
// clang-format on

void element_apply_atomic(enum oriel_type type, enum oriel_op op, void *target, const void *origin, void *result,
                          size_t count)
{
	atomic[type][op](target, origin, result, count);
}

void element_swap_atomic(void *target, const void *origin, const void *compare, void *result)
{
	uint64_t old, changed;

	memcpy(&old, compare, sizeof(old));
	memcpy(&changed, origin, sizeof(changed));
	__atomic_compare_exchange_n((uint64_t *)target, &old, changed, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	memcpy(result, &old, sizeof(old));
}
