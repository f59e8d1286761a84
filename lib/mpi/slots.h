/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.h - small memory of MPI_Alloc_mem: pages of one piece that peers can map
 *
 * DESIGN NOTES
 *
 * A counter of 8 bytes in a window of its own is worth as much to a program as a large array, and memory that peers can map
 * takes descriptors and system calls. So all such share one piece, which costs nothing but the pages that are touched. A slot
 * is 1 to 16 of its pages, a power of two; those that are freed serve again as they are. When the piece is used up the MPI's
 * own memory serves as well. It is never more than the piece.
 *
 * The caller guards all of it by one lock, but for slots_has.
 */
#ifndef ORIEL_MPI_SLOTS_H
#define ORIEL_MPI_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#define SLOTS_BYTES ((size_t)4 << 20)
#define SLOT_BYTES_MAX ((size_t)64 << 10)

/* Slots are those of this memory, of SLOTS_BYTES. Once. */
void slots_open(void *base);

bool slots_are_open(void);

/* Whether it lies in the piece. */
bool slots_has(const void *memory);

/* NULL: there is none of size_bytes, which is not more than SLOT_BYTES_MAX. */
void *slots_take(size_t size_bytes);

void slots_give(void *slot);

#endif
