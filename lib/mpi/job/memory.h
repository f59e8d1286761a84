/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - memory of MPI_Alloc_mem, and the descriptors that Oriel's memory takes */
#ifndef ORIEL_MPI_MEMORY_H
#define ORIEL_MPI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether half of the process's descriptors are in use, even after kept memory has been
 * released. Memory that peers can map takes two, the MPI's none.
 */
bool memory_is_short_of_descriptors(void);

/* Returns whether so many descriptors can be had. */
bool memory_has_descriptors(int count);

/* Frees what the program has not freed, before the job ends. */
void memory_release(void);

/*
 * pieces.c: large memory of MPI_Alloc_mem that the program has freed, kept for reuse
 *
 * DESIGN NOTES
 *
 * Oriel's memory costs system calls, and a page fault for each page. So freed pieces of sizes that
 * recur are kept, with their bytes. The total is bounded, and the oldest piece goes first.
 *
 * Sizes are rounded up to one of eight between a power of two and the next.
 *
 * The caller holds one lock for all calls but pieces_round.
 */

#define PIECES_BYTES_MAX ((size_t)64 << 20) /* of all kept pieces */
#define PIECES_MAX 64
#define PIECE_BYTES_MIN ((size_t)64 << 10) /* smaller memory: slots */

/* Memory from oriel_alloc. */
struct piece {
	void *base;
	size_t size_bytes;
	bool recurs; /* keep it when it is freed */
};

size_t pieces_round(size_t size_bytes);

/* Takes a kept piece that is large enough, but not much larger; NULL: none. */
struct piece *pieces_take(size_t size_bytes);

/* Returns whether a piece of that rounded size has been released lately. */
bool pieces_recur(size_t size_bytes);

/* Keeps the piece; false: no room, which pieces_oldest makes. */
bool pieces_keep(struct piece *piece);

/* Returns whether the piece is worth keeping. Remembers a size that has not recurred. */
bool pieces_wants(const struct piece *piece);

/* Takes the oldest kept piece; NULL: none. */
struct piece *pieces_oldest(void);

/*
 * pieces.c: small memory of MPI_Alloc_mem: pages of one piece that peers can map
 *
 * DESIGN NOTES
 *
 * All small memory shares one piece. A slot is 1, 2, 4, 8 or 16 pages; freed slots are reused at
 * the same size. If the piece is used up, the MPI's own memory serves.
 *
 * The caller serialises slots_take and slots_give.
 */

#define SLOTS_BYTES ((size_t)4 << 20)
#define SLOT_BYTES_MAX ((size_t)64 << 10)

/* Sets the memory of the slots, of SLOTS_BYTES. Called once. */
void slots_open(void *base);

bool slots_are_open(void);

bool slots_has(const void *memory);

/* Returns a slot of at least size_bytes, SLOT_BYTES_MAX at most; NULL: no room. */
void *slots_take(size_t size_bytes);

void slots_give(void *slot);

#endif
