/* SPDX-License-Identifier: BSD-2-Clause */
/* apps.h - what the programs of this folder share: who is who, their arguments, their result */
#ifndef ORIEL_PERF_APPS_H
#define ORIEL_PERF_APPS_H

#include <mpi.h>

extern int rank, ranks;

/* MPI_Init, and `count` numbers of the command line into `values`; ends the program where they are not these. */
void begin(int argc, char **argv, const char *names, int count, long *values);

/* Window memory of MPI_Win_allocate, zeroed. */
void *window_of(long bytes, int unit, MPI_Win *win);

/* A random number of a state that it changes: the same on every machine. */
unsigned long next_random(unsigned long *state);

/* Rank 0 prints the sum over all ranks, as what two runs are compared by; then MPI_Finalize. */
int end_with(const char *name, double mine);
#endif
