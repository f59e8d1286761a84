/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.h - errors of Oriel as errors of MPI
 *
 * DESIGN NOTES
 *
 * Each class has one error code, which the layer adds to the MPI at the first such error.
 * MPI_Error_string, which the layer takes, returns the text of the latest. So a program gets the
 * standard's class from MPI_Error_class, Oriel's text in MPI's words (language.c) from
 * MPI_Error_string, and a dozen codes at most. The text begins with the caller's rank and ends with
 * the class. Then the handler of the window or the communicator is called.
 */
#ifndef ORIEL_MPI_ERROR_H
#define ORIEL_MPI_ERROR_H

#include <mpi.h>

#include "mpi/win/window.h"

#define LANGUAGE_BYTES 1024

/*
 * Writes one of Oriel's texts in the words of MPI, without rank and constant; returns text. With
 * the window, displacements are in its units; it may be NULL. In language.c.
 */
const char *language_of_mpi(const struct window *window, const char *oriel, char text[LANGUAGE_BYTES]);

/* Returns the name of a class that the layer uses, "MPI_ERR_ARG". */
const char *language_class(int class);

/* Raises Oriel's error on the window; returns its code if the error handler returns. */
int error_of_oriel(const struct window *window, int rc);
int error_of_oriel_on(MPI_Win handle, int rc); /* for callers that have only the handle */

/* Returns MPI_SUCCESS, or the error that Oriel's call on the window has returned. */
static inline int error_of_call(const struct window *window, int rc)
{
	return rc ? error_of_oriel(window, rc) : MPI_SUCCESS;
}

/* Raises an error that the layer itself has found in a call of MPI. */
int error_on_window(const struct window *window, int class, const char *call, const char *why);
int error_on_comm(MPI_Comm comm, int class, const char *text);

int error_class(int rc);

/* Returns the code of that class, and sets its text. */
int error_code(int class, const char *text);

#endif
