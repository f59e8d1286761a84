/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.h - requests of MPI_Rput and its like
 *
 * DESIGN NOTES
 *
 * What is complete when the call returns, as all is on mapped memory, is a request of the MPI's own that is complete, too.
 * Of the rest the program gets a generalized request, which can stand in arrays beside others. The layer keeps a list of
 * those that are not complete; the calls that wait for requests, or test them, first ask Oriel about each of these and
 * tell the MPI of those that are. While there is none these calls are the MPI's own behind one load. While there is one, calls
 * that wait become loops of those that test. One that the program frees before it is complete stays in the list, and the MPI is
 * told when it is.
 */
#ifndef ORIEL_MPI_REQUEST_H
#define ORIEL_MPI_REQUEST_H

#include <mpi.h>

#include "mpi/window.h"

/* For what has been issued to that rank up to now; MPI_PROC_NULL: nothing. As an operation's result. */
int request_make(const struct window *window, int rank, MPI_Request *request);

/* An operation with a request is carried out in an epoch of fence or start: told once. */
void request_tell_active(void);

/* A look at all requests that are outstanding. When a window is freed Oriel knows those of it no more. */
void requests_look(void);

#endif
