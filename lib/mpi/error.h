/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.h - errors of Oriel as errors of MPI
 *
 * DESIGN NOTES
 *
 * Each class has one error code of the layer's, added to the MPI's at its first error; MPI_Error_string, which is taken,
 * tells the text of the latest. So a program that asks with MPI_Error_class and MPI_Error_string gets the standard's class and Oriel's
 * text, and no more than a dozen codes are ever added. Then the handler of the window, or of the communicator, is called.
 */
#ifndef ORIEL_MPI_ERROR_H
#define ORIEL_MPI_ERROR_H

#include <mpi.h>

#include "mpi/window.h"

/* Of Oriel's: what the window's error handler lets the call return. */
int error_of_oriel(const struct window *window, int rc);
int error_of_oriel_on(MPI_Win handle, int rc); /* by its handle: for callers that keep nothing else */

/* What Oriel's call on a window has returned: MPI_SUCCESS, or such an error. */
static inline int error_of_call(const struct window *window, int rc)
{
	return rc ? error_of_oriel(window, rc) : MPI_SUCCESS;
}

/* An error that the layer has found itself: a class of MPI's, and a text. */
int error_on_window(const struct window *window, int class, const char *text);
int error_on_comm(MPI_Comm comm, int class, const char *text);

/* The class of an error of Oriel's. */
int error_class(int rc);

/* A code of that class which has this text. */
int error_code(int class, const char *text);

#endif
