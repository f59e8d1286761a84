/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.h - which memory is watched, and what the segment has accessed; see compiled.h */
#ifndef ORIEL_CHECK_WATCH_H
#define ORIEL_CHECK_WATCH_H

#include <stddef.h>

#include "check/compiled/compiled.h"
#include "check/compiled/strand.h"

#define PAGE_SHIFT 12
#define PAGE_CELLS 512
#define LEAF_SHIFT 31
#define LEAF_PAGES (1u << (LEAF_SHIFT - PAGE_SHIFT))
#define LEAVES (1u << 17) /* addresses have 48 bits */

#define NEAR_SHIFT 21
#define NEAR_COUNT (1u << 16) /* stretches of memory; those further apart share numbers */

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define HERE __builtin_return_address(0)

struct page {
	uint64_t *cells; /* NULL: nothing is watched there */
	uint32_t ranges; /* that touch it */
	bool was_watched;
	uint16_t ordered; /* blocks with atomics whose order is not relaxed, as bits */
};

struct leaf {
	struct page pages[LEAF_PAGES];
};

extern struct leaf *leaves[LEAVES] __attribute__((visibility("hidden")));

/* How many pages of a stretch are watched. Most are of stretches without any. */
extern uint32_t near_count[NEAR_COUNT] __attribute__((visibility("hidden")));

static inline uint32_t *near_of(uint64_t address)
{
	return &near_count[address >> NEAR_SHIFT & (NEAR_COUNT - 1)];
}

/* watch.c */

/* The place accesses an element. */
void watch_element(const void *site, uint64_t first, uint32_t bytes, enum compiled_kind kind);

/*
 * Adds an access as watch_element does, by general registers and without calls of other code but
 * is_in_call. Returns false, and adds nothing, if other code has to be called.
 */
bool watch_without_calls(const void *site, uint64_t first, uint32_t bytes, enum compiled_kind kind);

/* The place accesses a range, of any memory. */
void watch_range(const void *site, const char *call, const void *first, size_t bytes, enum compiled_kind kind);

static inline uint64_t *cells_of(uint64_t address)
{
	const struct leaf *leaf = __atomic_load_n(&leaves[address >> LEAF_SHIFT & (LEAVES - 1)], __ATOMIC_RELAXED);

	return leaf ? __atomic_load_n(&leaf->pages[address >> PAGE_SHIFT & (LEAF_PAGES - 1)].cells, __ATOMIC_RELAXED)
	            : NULL;
}

/* ---- the cells ---- */

#define TAG_SHIFT 32 /* segment and strand */
#define STRAND_SHIFT 6

extern uint64_t watch_segment __attribute__((visibility("hidden")));

/* Returns the bits of a cell for these bytes, of which the first lies in it. */
static inline uint64_t bits_of(uint64_t first, uint64_t end, enum compiled_kind kind)
{
	uint64_t bytes = end - first, mask = bytes >= 8 ? 0xff : (1u << bytes) - 1;

	return (mask << (first & 7) & 0xff) << (8 * kind);
}

static inline uint64_t tag_now(void)
{
	return (watch_segment << STRAND_SHIFT | strand_now()) & UINT32_MAX;
}

static inline bool has_bits(uint64_t cell, uint64_t bits)
{
	return cell >> TAG_SHIFT == tag_now() && (cell & bits) == bits;
}

/* Returns whether an access of these bytes says nothing: they are not watched, or marked. */
static inline bool watch_has(uint64_t first, uint64_t end, enum compiled_kind kind)
{
	for (uint64_t at = first; at < end; at = (at | 7) + 1) {
		uint64_t *cells = cells_of(at);

		if (cells &&
		    !has_bits(__atomic_load_n(&cells[at >> 3 & (PAGE_CELLS - 1)], __ATOMIC_RELAXED), bits_of(at, end, kind)))
			return false;
	}
	return true;
}

static inline void watch_access(const void *site, const volatile void *memory, uint32_t bytes, enum compiled_kind kind)
{
	uint64_t first = (uint64_t)(uintptr_t)memory;

	if (LIKELY(!__atomic_load_n(near_of(first), __ATOMIC_RELAXED)) || LIKELY(!cells_of(first)))
		return;
	watch_element(site, first, bytes, kind);
}

/* NULL, or called when the page gets cells or loses them. The caller holds the lock. */
extern void (*watch_changed)(uint64_t page) __attribute__((visibility("hidden")));

/* Processes may order each other by an atomic at this address, in a page that has cells. */
void watch_order(uint64_t address);

/* The place makes an atomic, whose order is one of the compiler's. */
static inline void watch_atomic(const void *site, const volatile void *memory, uint32_t bytes, enum compiled_kind kind,
                                int order)
{
	uint64_t first = (uint64_t)(uintptr_t)memory;

	if (LIKELY(!__atomic_load_n(near_of(first), __ATOMIC_RELAXED)) || LIKELY(!cells_of(first)))
		return;
	if ((order & 7) != __ATOMIC_RELAXED)
		watch_order(first);
	watch_element(site, first, bytes, kind);
}

/* Memory is about to be freed, out of sight of the front. */
void watch_freed(const void *memory);

/* runtime.c */

/* Takes the place of the compiler's runtime, if the program has it in itself. */
void runtime_take(void);

extern bool runtime_is_inside __attribute__((visibility("hidden")));

/* object.c: files whose code was compiled so */

uint32_t objects_count(void);

/* Finds the code of those programs and libraries that are loaded. */
void objects_find(void);

/* Returns whether the address lies in the code of such a program or library. */
bool object_has(const void *address);

/* Returns whether it lies there, or in a library whose threads are the program's. */
bool object_has_threads(const void *address);

/* Returns a library that such code calls, and that may order threads by itself, or NULL. */
const char *object_unknown(void);

/* run.c: the caller holds the lock of watch.c */

/* Adds an element, or a range. */
void run_add(struct compiled_run element);

/* Returns whether runs should be taken soon. */
bool runs_are_many(void);

uint64_t runs_lost(void);

/* Returns whether any run that was not taken is of stores. */
bool runs_have_stores(void);

/* Whether the strand has runs that were not taken. */
extern bool run_is_pending[STRANDS] __attribute__((visibility("hidden")));

uint32_t runs_take(const struct compiled_run **runs);

#endif
