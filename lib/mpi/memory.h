/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - memory of MPI_Alloc_mem */
#ifndef ORIEL_MPI_MEMORY_H
#define ORIEL_MPI_MEMORY_H

/* The job is about to end: release what the program has left. */
void memory_release(void);

#endif
