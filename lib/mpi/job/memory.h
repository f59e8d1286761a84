/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - memory of MPI_Alloc_mem, and the descriptors that Oriel's memory takes */
#ifndef ORIEL_MPI_MEMORY_H
#define ORIEL_MPI_MEMORY_H

#include <stdbool.h>

/*
 * Returns whether half of the process's descriptors are in use, even after kept memory has been
 * released. Memory that peers can map takes two; then the MPI's own, which takes none, has to do.
 */
bool memory_is_short_of_descriptors(void);

/* Returns whether so many descriptors can be had. */
bool memory_has_descriptors(int count);

/* Frees the memory that the program has not freed, before the job ends. */
void memory_release(void);

#endif
