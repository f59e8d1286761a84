/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - the rest of MPI gets on while a rank waits inside Oriel
 *
 * DESIGN NOTES
 *
 * The MPI is asked whether a request is complete that never is: a generalized request of the layer's own. Whatever it asks
 * for, an MPI gets everything on that it has under way meanwhile. (To probe for messages on a communicator of one rank would cost
 * no less, and MPICH does nothing else then.) The thread that waits is in a call of MPI's, so it may call MPI at any level
 * of threads.
 */
#ifndef ORIEL_MPI_PROGRESS_H
#define ORIEL_MPI_PROGRESS_H

void progress_open(void);
void progress_close(void);

/* As idle of oriel_options. */
void progress_idle(void *context);

#endif
