// SPDX-License-Identifier: BSD-2-Clause
/*
 * acc.h - one accumulate operation
 *
 * One piece: `count` elements, contiguous at the target, at the origin, and in the result.
 * accumulate has no result. fetch_and_op and compare_and_swap have one element, and copy their
 * operands.
 *
 * Or a row: blocks of count elements each, at one distance from each other on each side, in memory
 * that is not mapped (op/row.h).
 */
#ifndef ORIEL_ACC_H
#define ORIEL_ACC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/element.h"

struct link;
struct oriel_win;

/* The distances from each block of a row to the next, in bytes; and the program's call. */
struct acc_row {
	ptrdiff_t target, origin, result;
	const char *call;
};

struct acc {
	uint8_t type;         /* enum oriel_type */
	uint8_t op;           /* enum oriel_op; of compare_and_swap ORIEL_REPLACE */
	bool copied;          /* the operands are in `operand` */
	uint32_t blocks;      /* of a row, which is `row`; 0: one piece */
	const void *origin;   /* may be NULL for ORIEL_NO_OP */
	const void *compare;  /* of compare_and_swap; else NULL */
	void *result;         /* NULL: none */
	size_t count;         /* of elements, not 0 */
	uint64_t remote_addr; /* of the first element; in mapped memory, its address here */
	union {
		_Alignas(16) uint8_t operand[ELEMENT_BYTES_MAX]; /* one element, and at ACC_COMPARE that to compare with */
		struct acc_row row;
	};
};

#define ACC_COMPARE 16 /* comparable elements have at most 16 bytes */

/* Fills in all but the address, operands and result. */
static inline void acc_init(struct acc *acc, enum oriel_type type, enum oriel_op op, size_t count)
{
	acc->type = (uint8_t)type;
	acc->op = (uint8_t)op;
	acc->copied = false;
	acc->blocks = 0;
	acc->origin = acc->compare = NULL;
	acc->result = NULL;
	acc->count = count;
}

/* Bytes at the target, from the first to the last. */
struct acc_span {
	uint64_t from, bytes;
};

static inline struct acc_span acc_span(const struct acc *acc)
{
	struct acc_span span = { acc->remote_addr, element_span(acc->type, acc->count) };

	if (acc->blocks > 0) {
		int64_t extent = acc->row.target * (int64_t)(acc->blocks - 1);

		span.from += extent < 0 ? (uint64_t)extent : 0;
		span.bytes += extent < 0 ? -(uint64_t)extent : (uint64_t)extent;
	}
	return span;
}

/* Returns the bytes of an operation's operands, or of its result. */
static inline size_t acc_bytes(const struct acc *acc)
{
	return element_span(acc->type, acc->count) * (acc->blocks > 0 ? acc->blocks : 1);
}

/*
 * Returns whether all blocks of a row are aligned as the first one is, and have no padding, which
 * another origin may own.
 */
static inline bool acc_row_is_even(enum oriel_type type, int64_t distance)
{
	return !element_has_padding(type) && distance % element_types[type].size_bytes == 0;
}

static inline void acc_advance_row(struct acc *acc, uint32_t blocks)
{
	acc->blocks -= blocks;
	if (acc->blocks == 0)
		acc->count = 0;
	acc->remote_addr += (uint64_t)acc->row.target * blocks;
	if (acc->origin)
		acc->origin = (const uint8_t *)acc->origin + acc->row.origin * (ptrdiff_t)blocks;
	if (acc->result)
		acc->result = (uint8_t *)acc->result + acc->row.result * (ptrdiff_t)blocks;
}

static inline const void *acc_origin(const struct acc *acc)
{
	return acc->copied ? acc->operand : acc->origin;
}

static inline const void *acc_compare(const struct acc *acc)
{
	return acc->copied ? acc->operand + ACC_COMPARE : acc->compare;
}

/*
 * The class of elements depends on their type and alignment only. Each class has one mechanism at a
 * target (acc_route.h).
 */
enum acc_class {
	ACC_WORD,   /* aligned integers of 8 bytes (sync/atomic_mode.h) */
	ACC_NUMBER, /* others that have one store (sync/page_lock.h) */
	ACC_REST,   /* all others */
};

static inline bool acc_is_word(enum oriel_type type)
{
	return type == ORIEL_INT64 || type == ORIEL_UINT64;
}

static inline bool acc_are_words(enum oriel_type type, uint64_t addr)
{
	return acc_is_word(type) && addr % sizeof(uint64_t) == 0;
}

static inline enum acc_class acc_class(enum oriel_type type, uint64_t addr)
{
	if (acc_are_words(type, addr))
		return ACC_WORD;
	return element_has_one_store(type, addr) ? ACC_NUMBER : ACC_REST;
}

/* Drops the first elements. Returns their bytes. */
static inline size_t acc_advance(struct acc *acc, size_t count)
{
	size_t bytes = count * element_types[acc->type].size_bytes;

	acc->count -= count;
	acc->remote_addr += bytes;
	if (acc->origin)
		acc->origin = (const uint8_t *)acc->origin + bytes;
	if (acc->result)
		acc->result = (uint8_t *)acc->result + bytes;
	return bytes;
}

/*
 * Applies the operation to memory of this process, by plain code or (_atomic) atomic instructions.
 */
static inline void acc_apply(const struct acc *acc, void *target)
{
	if (acc->compare)
		element_swap(acc->type, target, acc_origin(acc), acc_compare(acc), acc->result);
	else
		element_apply(acc->type, acc->op, target, acc_origin(acc), acc->result, acc->count);
}

static inline void acc_apply_atomic(const struct acc *acc, void *target)
{
	if (acc->compare)
		element_swap_atomic(target, acc_origin(acc), acc_compare(acc), acc->result);
	else
		element_apply_atomic(acc->type, acc->op, target, acc_origin(acc), acc->result, acc->count);
}

int acc_refuse(const struct oriel_win *win, enum oriel_type type, enum oriel_op op, const char *call);

/* Returns the error of a wrong type or compare. */
int acc_refuse_swap(const struct oriel_win *win, enum oriel_type type, const char *call);

/*
 * Checks the window's handle, and that type and call have the operation: ORIEL_NO_OP needs a
 * result. ERRORS: ORIEL_ERR_HANDLE, ORIEL_ERR_OP.
 */
static inline int acc_check(const struct oriel_win *win, enum oriel_type type, enum oriel_op op, bool fetches,
                            const char *call)
{
	if (element_legal(op, type) && (op != ORIEL_NO_OP || fetches))
		return 0;
	return acc_refuse(win, type, op, call);
}

/*
 * Checks range and access at a described target, and sets acc->remote_addr. The caller holds
 * win->lock. ERRORS: ORIEL_ERR_RANGE, ORIEL_ERR_ACCESS.
 */
int acc_target(struct oriel_win *win, struct link *link, struct acc *acc, size_t disp, const char *call);

/* Issues or defers an operation that has been checked, as issue_or_defer does. */
int acc_issue_or_defer(struct oriel_win *win, struct link *link, struct acc *acc, const char *call);

#endif
