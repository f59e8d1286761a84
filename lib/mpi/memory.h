/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - memory of MPI_Alloc_mem, and what memory of Oriel's costs the program */
#ifndef ORIEL_MPI_MEMORY_H
#define ORIEL_MPI_MEMORY_H

#include <stdbool.h>

/*
 * Memory that peers can map takes two descriptors, which the MPI's own does not. Whether half of those that the process may
 * have are in use, also when what is kept of freed memory has been given back: the rest is left to the program, and such memory
 * to the MPI.
 */
bool memory_is_short_of_descriptors(void);

/* The job is about to end: release what the program has left. */
void memory_release(void);

#endif
