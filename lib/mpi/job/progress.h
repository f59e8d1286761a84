/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - MPI makes progress while a rank waits in Oriel, and Oriel while it waits in MPI
 *
 * DESIGN NOTES
 *
 * While a rank waits in Oriel, the layer tests a generalized request that never completes: any test
 * makes an MPI progress everything. (A probe on a communicator of one rank costs no less, and MPICH
 * does nothing else then.) The waiting thread is in a call of MPI's, so it may call MPI at any
 * thread level.
 *
 * The other way round, active messages need a thread of their target. While the program's waits in
 * an MPI barrier, Oriel's service thread often shares the one core to which the launcher has bound
 * the process, and runs only after milliseconds. Open MPI calls a list of functions in every turn
 * of its waits (opal_progress_register, of its lower library); progress_serve is added to it. MPICH
 * has no such list, but with UCX it calls UCX's progress in every turn, which is hooked
 * (ucx_hook.c).
 */
#ifndef ORIEL_MPI_PROGRESS_H
#define ORIEL_MPI_PROGRESS_H

void progress_open(void);
void progress_close(void);

/* Called before the job ends: the MPI's waits no longer serve it. */
void progress_unlist(void);

/*
 * Called by any thread in each turn of an MPI wait. Returns 0: the MPI need not know what was done.
 */
int progress_serve(void);

/* The idle function of oriel_options. */
void progress_idle(void *context);

#endif
