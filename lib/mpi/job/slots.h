/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.h - small memory of MPI_Alloc_mem: pages of one piece that peers can map
 *
 * DESIGN NOTES
 *
 * A program may well have a window for an 8-byte counter, but memory that peers can map takes
 * descriptors and system calls. So all small memory shares one piece, of which only touched pages
 * cost anything. A slot is 1, 2, 4, 8 or 16 pages; freed slots are reused at the same size. If the
 * piece is used up, the MPI's own memory serves instead.
 *
 * The caller serialises slots_take and slots_give.
 */
#ifndef ORIEL_MPI_SLOTS_H
#define ORIEL_MPI_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

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
