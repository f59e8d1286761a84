/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collective.h - collective calls over MPI_COMM_WORLD that leave the processor to those who come to them later
 *
 * DESIGN NOTES
 *
 * MPICH spins in its own collective calls. Where ranks share processors each step of one then takes as long as the kernel lets
 * a spinning rank run: with 16 ranks on two processors a barrier takes a tenth of a second. These give way after each look.
 */
#ifndef ORIEL_MPI_COLLECTIVE_H
#define ORIEL_MPI_COLLECTIVE_H

/* all[i] becomes what rank i has as mine. */
void collective_allgather(const void *mine, int size_bytes, void *all);

/* The least of all ranks' values. */
int collective_min(int mine);

#endif
