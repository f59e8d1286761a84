/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.h - requests of MPI_Rput and its like
 *
 * DESIGN NOTES
 *
 * An operation that is complete when its call returns, as all are on mapped memory, has a complete
 * request of the MPI's own. Any other has a generalized request, which can stand in arrays beside
 * others. The layer lists those that are outstanding. Calls that wait for requests or test them
 * first test these with Oriel, and complete those that have ended. While the list is empty, these
 * calls are the MPI's own after one load. Otherwise, calls that wait loop over those that test. A
 * request that the program frees early stays listed until it is complete.
 */
#ifndef ORIEL_MPI_REQUEST_H
#define ORIEL_MPI_REQUEST_H

#include <mpi.h>

#include "mpi/win/window.h"

/*
 * Makes a request for what has been issued to that rank so far; MPI_PROC_NULL: nothing. Returns as
 * operation_do does.
 */
int request_make(const struct window *window, int rank, MPI_Request *request);

/* Reports, once, that an operation with a request was issued in an epoch of fence or start. */
void request_tell_active(void);

/*
 * Tests all outstanding requests. Called before a window is freed, since Oriel then forgets its
 * requests.
 */
void requests_look(void);

#endif
