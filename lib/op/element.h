// SPDX-License-Identifier: BSD-2-Clause
/*
 * element.h - the values that accumulates combine: their types, sizes, operations
 *
 * DESIGN NOTES
 *
 * An element is one value of an enum oriel_type, of the size of the C type. Of a pair only the
 * bytes of its two fields are ever read or written: its padding may belong to another origin, and
 * the padding behind the last pair may lie outside the window (A8).
 *
 * There are two ways to apply an operation. element_apply is plain code, for memory of any
 * alignment that no other thread or rank changes meanwhile. A rank that dies within it leaves an
 * element that has one store as it was, or changed (A21). element_apply_atomic changes each
 * element by one atomic instruction, or a compare-and-swap loop, and writes no neighbouring byte
 * (A11). It is for aligned integers of 8 bytes. The two ways are not atomic with each other.
 */
#ifndef ORIEL_ELEMENT_H
#define ORIEL_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oriel.h"

#define ELEMENT_TYPES (ORIEL_INT128 + 1)
#define ELEMENT_OPS (ORIEL_NO_OP + 1)
#define ELEMENT_BYTES_MAX 32

struct element_type {
	uint8_t size_bytes; /* 0: no such type here */
	uint8_t span_bytes; /* size_bytes without the padding at the end */
	bool one_store;     /* this processor stores it by one instruction, without its padding */
	bool comparable;    /* integers and bool: legal in compare_and_swap (A6) */
};

/* Constant from main on: element_plain.c asks the processor before. */
extern struct element_type element_types[ELEMENT_TYPES];

static inline bool element_known(enum oriel_type type)
{
	return type > 0 && type < ELEMENT_TYPES && element_types[type].size_bytes != 0;
}

static inline bool element_comparable(enum oriel_type type)
{
	return (unsigned)type < ELEMENT_TYPES && element_types[type].comparable;
}

extern const uint16_t element_ops[ELEMENT_TYPES]; /* 1 << enum oriel_op of each operation */

/* Returns what oriel_op_legal does. */
static inline bool element_legal(enum oriel_op op, enum oriel_type type)
{
	return (unsigned)type < ELEMENT_TYPES && (unsigned)op < ELEMENT_OPS && (element_ops[type] >> op & 1u);
}

/* Return the name as in oriel.h, or "unknown". */
const char *element_op_name(enum oriel_op op);
const char *element_type_name(enum oriel_type type);

/* The rest is for known types and legal operations. */

static inline bool element_has_padding(enum oriel_type type)
{
	return element_types[type].span_bytes != element_types[type].size_bytes;
}

/* Returns whether an element of the type has one store at this address. */
static inline bool element_has_one_store(enum oriel_type type, uint64_t addr)
{
#ifdef __x86_64__
	(void)addr; /* of any alignment, also across pages */
	return element_types[type].one_store;
#else
	return element_types[type].one_store && (addr & (element_types[type].size_bytes - 1u)) == 0;
#endif
}

/*
 * Returns the bytes from the first of `count` > 0 elements to the last byte that is read or
 * written.
 */
static inline size_t element_span(enum oriel_type type, size_t count)
{
	return (count - 1) * element_types[type].size_bytes + element_types[type].span_bytes;
}

/*
 * target = target op origin for each element, in order. The result, unless NULL, becomes what
 * target was, and overlaps neither. origin may be NULL for ORIEL_NO_OP.
 */
void element_apply(enum oriel_type type, enum oriel_op op, void *target, const void *origin, void *result,
                   size_t count);
void element_apply_atomic(enum oriel_type type, enum oriel_op op, void *target, const void *origin, void *result,
                          size_t count);

/*
 * result = target; if target has the bytes of compare, target = origin. For comparable types;
 * _atomic for words.
 */
void element_swap(enum oriel_type type, void *target, const void *origin, const void *compare, void *result);
void element_swap_atomic(void *target, const void *origin, const void *compare, void *result);

#endif
