/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dynamic_windows.h - what multi_dynamic.c, multi_dynamic_detach.c and multi_dynamic_accumulate.c
 * have in common
 */
#ifndef ORIEL_TESTS_DYNAMIC_WINDOWS_H
#define ORIEL_TESTS_DYNAMIC_WINDOWS_H

#include <sys/mman.h>

#include "multi.h"

#define PAGE ((size_t)4096)

/* Words of the board: addresses of ranks, and steps. */
enum { ADDRESS, STEP = MULTI_WORDS / 2 };

static inline oriel_win *open_dynamic(struct multi *m)
{
	oriel_win *win = NULL;

	CHECK_OK(m, oriel_win_create_dynamic(NULL, m->group, &win));
	return win;
}

static inline uint8_t *map_pages(size_t pages)
{
	uint8_t *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Maps other memory at the same address. */
static inline void map_anew(struct multi *m, uint8_t *memory, size_t size_bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	munmap(memory, size_bytes);
	CHECK(m, mmap(memory, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == memory);
}

/* Publishes the address of this rank's memory; address() returns that of another's. */
static inline void tell(struct multi *m, const void *memory)
{
	multi_raise(m, ADDRESS + m->rank, (uintptr_t)memory);
	multi_sync(m);
}

static inline size_t address(struct multi *m, int rank)
{
	return (size_t)multi_word(m, ADDRESS + rank);
}

static inline int right_of(const struct multi *m)
{
	return (m->rank + 1) % m->size;
}

static inline uint64_t left_of(const struct multi *m)
{
	return (uint64_t)((m->rank + m->size - 1) % m->size);
}

#endif
