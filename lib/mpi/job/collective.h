/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collective.h - collective calls over MPI_COMM_WORLD that yield the processor
 *
 * DESIGN NOTES
 *
 * MPICH spins in its own collective calls. When oversubscribed, each step then takes as long as the
 * kernel lets a spinning rank run: a barrier of 16 ranks on two processors takes a tenth of a
 * second. These calls yield after each test.
 */
#ifndef ORIEL_MPI_COLLECTIVE_H
#define ORIEL_MPI_COLLECTIVE_H

/* Sets all[i] to rank i's mine. */
void collective_allgather(const void *mine, int size_bytes, void *all);

int collective_min(int mine);

#endif
