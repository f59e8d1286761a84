/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - MPI makes progress while a rank waits in Oriel, and Oriel while it waits in MPI
 *
 * DESIGN NOTES
 *
 * While a rank waits in Oriel, the layer tests a generalized request that never completes: any test
 * makes an MPI progress everything. The waiting thread is in a call of MPI's, so it may call MPI at
 * any thread level.
 *
 * While a rank waits in MPI, Oriel's service thread often shares its one core, and runs only after
 * milliseconds. Open MPI calls a list of functions in every turn of its waits
 * (opal_progress_register); progress_serve is added to it. MPICH has no such list, but with UCX it
 * calls UCX's progress in every turn, which is hooked.
 */
#ifndef ORIEL_MPI_PROGRESS_H
#define ORIEL_MPI_PROGRESS_H

void progress_open(void);
void progress_close(void);

/* Takes Oriel out of the MPI's waits, before the job ends. */
void progress_unlist(void);

/* Called by any thread in each turn of an MPI wait. Returns 0: nothing to report. */
int progress_serve(void);

/* The idle function of oriel_options. */
void progress_idle(void *context);

#endif
