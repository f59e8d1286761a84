/* SPDX-License-Identifier: BSD-2-Clause */
/* See memory.h. */
#include "mpi/job/memory.h"

#include <stdint.h>

#define PAGE_BYTES ((size_t)4096)
#define PAGES (SLOTS_BYTES / PAGE_BYTES)
#define KINDS 5 /* 1, 2, 4, 8 and 16 pages */
#define NONE UINT16_MAX

static uint8_t *piece; /* stored before the first slot is taken */
static size_t used;    /* pages in slots, free ones included */
static uint16_t free_slots[KINDS] = { NONE, NONE, NONE, NONE, NONE };
static uint16_t next_free[PAGES]; /* by the first page of a slot */
static uint8_t kind_of[PAGES];

void slots_open(void *base)
{
	__atomic_store_n(&piece, base, __ATOMIC_RELEASE); /* pairs with slots_has and slots_are_open */
}

bool slots_are_open(void)
{
	return __atomic_load_n(&piece, __ATOMIC_ACQUIRE); /* pairs with slots_open */
}

bool slots_has(const void *memory)
{
	const uint8_t *base = __atomic_load_n(&piece, __ATOMIC_ACQUIRE); /* pairs with slots_open */

	return base && (uintptr_t)memory - (uintptr_t)base < SLOTS_BYTES;
}

static unsigned kind_for(size_t size_bytes)
{
	unsigned kind = 0;

	while (PAGE_BYTES << kind < size_bytes)
		kind++;
	return kind;
}

/* Returns the first page of an unused slot. */
static uint16_t new_slot(unsigned kind)
{
	size_t first = used;

	if (PAGES - used < (size_t)1 << kind)
		return NONE;
	used += (size_t)1 << kind;
	kind_of[first] = (uint8_t)kind;
	return (uint16_t)first;
}

void *slots_take(size_t size_bytes)
{
	unsigned kind = kind_for(size_bytes);
	uint16_t page = free_slots[kind];

	if (page == NONE)
		page = new_slot(kind);
	else
		free_slots[kind] = next_free[page];
	return page == NONE ? NULL : piece + page * PAGE_BYTES;
}

void slots_give(void *slot)
{
	size_t page = (size_t)((uint8_t *)slot - piece) / PAGE_BYTES;
	unsigned kind = kind_of[page];

	next_free[page] = free_slots[kind];
	free_slots[kind] = (uint16_t)page;
}
