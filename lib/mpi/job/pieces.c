/* SPDX-License-Identifier: BSD-2-Clause */
/* See memory.h. */
#include "mpi/job/memory.h"

#include <stdint.h>
#include <string.h>

#define STEPS 8     /* sizes from a power of two to the next */
#define WASTE 4     /* a kept piece may exceed the request by 1/WASTE */
#define MEMORIES 64 /* sizes of released pieces that are remembered */

/* Oldest first. */
static struct piece *kept[PIECES_MAX];
static int count;
static size_t kept_bytes;

static size_t given_back[MEMORIES];
static unsigned next_memory;

size_t pieces_round(size_t size_bytes)
{
	size_t power = PIECE_BYTES_MIN, step;

	if (size_bytes > PIECES_BYTES_MAX)
		return size_bytes; /* not kept */
	while (power <= size_bytes / 2)
		power *= 2;
	step = power / STEPS;
	return (size_bytes + step - 1) / step * step;
}

static struct piece *take_out(int at)
{
	struct piece *piece = kept[at];

	count--;
	memmove(&kept[at], &kept[at + 1], (size_t)(count - at) * sizeof(*kept));
	kept_bytes -= piece->size_bytes;
	return piece;
}

/*
 * Takes the smallest that fits; among equals the latest, which may still be in the processor's
 * cache.
 */
struct piece *pieces_take(size_t size_bytes)
{
	size_t most = size_bytes + size_bytes / WASTE;
	int best = -1;

	for (int i = count; i-- > 0;) {
		size_t bytes = kept[i]->size_bytes;

		if (bytes >= size_bytes && bytes <= most && (best < 0 || bytes < kept[best]->size_bytes))
			best = i;
	}
	return best < 0 ? NULL : take_out(best);
}

bool pieces_recur(size_t size_bytes)
{
	for (int i = 0; i < MEMORIES; i++) {
		if (given_back[i] == size_bytes)
			return true;
	}
	return false;
}

bool pieces_wants(const struct piece *piece)
{
	if (piece->size_bytes > PIECES_BYTES_MAX)
		return false;
	if (!piece->recurs)
		given_back[next_memory++ % MEMORIES] = piece->size_bytes;
	return piece->recurs;
}

bool pieces_keep(struct piece *piece)
{
	if (count == PIECES_MAX || piece->size_bytes > PIECES_BYTES_MAX - kept_bytes)
		return false;
	kept[count++] = piece;
	kept_bytes += piece->size_bytes;
	return true;
}

struct piece *pieces_oldest(void)
{
	return count > 0 ? take_out(0) : NULL;
}

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
