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

/* The place accesses an element, in a page that has cells. */
void watch_element(const void *site, uint64_t first, uint32_t bytes, enum compiled_kind kind);

/* The place accesses a range, of any memory. */
void watch_range(const void *site, const char *call, const void *first, size_t bytes, enum compiled_kind kind);

static inline uint64_t *cells_of(uint64_t address)
{
	const struct leaf *leaf = __atomic_load_n(&leaves[address >> LEAF_SHIFT & (LEAVES - 1)], __ATOMIC_RELAXED);

	return leaf ? __atomic_load_n(&leaf->pages[address >> PAGE_SHIFT & (LEAF_PAGES - 1)].cells, __ATOMIC_RELAXED)
	            : NULL;
}

static inline void watch_access(const void *site, const volatile void *memory, uint32_t bytes, enum compiled_kind kind)
{
	uint64_t first = (uint64_t)(uintptr_t)memory;

	if (LIKELY(!__atomic_load_n(near_of(first), __ATOMIC_RELAXED)) || LIKELY(!cells_of(first)))
		return;
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
