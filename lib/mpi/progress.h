/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - the rest of MPI gets on while a rank waits inside Oriel, and Oriel while it waits inside MPI
 *
 * DESIGN NOTES
 *
 * The MPI is asked whether a request is complete that never is: a generalized request of the layer's own. Whatever it asks
 * for, an MPI gets everything on that it has under way meanwhile. (To probe for messages on a communicator of one rank would cost
 * no less, and MPICH does nothing else then.) The thread that waits is in a call of MPI's, so it may call MPI at any level
 * of threads.
 *
 * The other way round, accumulates that a rank applies for others want a thread of it: while one of
 * the program's waits in a barrier of the MPI's, Oriel's service thread often shares the one core
 * with it that the launcher has bound the process to, and gets its turn after milliseconds. Open MPI
 * has a list of functions that each of its waits calls in every turn (opal_progress_register, of its
 * lower library); ours is put there. MPICH has no such list, but calls UCX's progress in every turn
 * where it is built with UCX, which is hooked (ucx_hook.c).
 */
#ifndef ORIEL_MPI_PROGRESS_H
#define ORIEL_MPI_PROGRESS_H

void progress_open(void);
void progress_close(void);

/* Before job.oriel is left, which is there since progress_open: the MPI's waits serve it no more. */
void progress_unlist(void);

/* In each turn of a wait of the MPI's, by any thread. Returns 0: the MPI need not know what was done. */
int progress_serve(void);

/* As idle of oriel_options. */
void progress_idle(void *context);

#endif
