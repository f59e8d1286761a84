// SPDX-License-Identifier: BSD-2-Clause
/*
 * element_atomic.c - operations on single elements that other threads and ranks change too
 *
 * Every access to a target's element is one atomic instruction of its own width, and pairs with all
 * other accesses here, in all processes. All are sequentially consistent: a thread that sees the
 * element changed sees what the origin has stored before.
 */
#include "op/element.h"

#include <string.h>

#include "op/element_list.h"

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
