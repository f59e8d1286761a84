/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - MPI makes progress while a rank waits in Oriel, and Oriel while it waits in MPI
 *
 * DESIGN NOTES
 *
 * While a rank waits in Oriel, the layer tests a generalized request that never completes: any test
 * makes an MPI progress everything. It may at any thread level: the program has called MPI.
 *
 * While a rank waits in MPI, Oriel's service thread may run only after milliseconds on the same
 * processor. So progress_serve is called in each turn of the MPI's waits: Open MPI has a list for
 * that (opal_progress_register); MPICH calls UCX's progress, which is hooked. When oversubscribed,
 * oriel_progress yields; MPICH does not.
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
