/* SPDX-License-Identifier: BSD-2-Clause */
/* apps.h - shared by the programs of this folder: ranks, arguments, result */
#ifndef ORIEL_PERF_APPS_H
#define ORIEL_PERF_APPS_H

#include <mpi.h>

extern int rank, ranks;

/*
 * Calls MPI_Init and reads `count` numbers of the command line; ends the program if they are wrong.
 */
void begin(int argc, char **argv, const char *names, int count, long *values);

/* Returns zeroed memory of MPI_Win_allocate. */
void *window_of(long bytes, int unit, MPI_Win *win);

/* Returns the next random number of a state, which is the same on every machine. */
unsigned long next_random(unsigned long *state);

/* Prints on rank 0 the sum over all ranks, by which runs are compared, and calls MPI_Finalize. */
int end_with(const char *name, double mine);
#endif
