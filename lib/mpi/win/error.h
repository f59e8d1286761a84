/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.h - errors of Oriel as errors of MPI
 *
 * DESIGN NOTES
 *
 * Each class has one error code, which the layer adds to the MPI at the first such error.
 * MPI_Error_string, which the layer takes, returns the text of the latest: Oriel's in MPI's words
 * (language.c), between the caller's rank and the class. Then the handler of the window or the
 * communicator is called.
 */
#ifndef ORIEL_MPI_ERROR_H
#define ORIEL_MPI_ERROR_H

#include <mpi.h>

#include "mpi/win/window.h"

#define LANGUAGE_BYTES 1024

/*
 * Writes Oriel's text in MPI's words, without rank and constant; returns text. With the window,
 * which may be NULL, displacements are in its units.
 */
const char *language_of_mpi(const struct window *window, const char *oriel, char text[LANGUAGE_BYTES]);

/* Returns a class's name, "MPI_ERR_ARG". */
const char *language_class(int class);

/* Raises Oriel's error on the window; returns its code if the handler returns. */
int error_of_oriel(const struct window *window, int rc);
int error_of_oriel_on(MPI_Win handle, int rc);

/* Returns MPI_SUCCESS, or the error that Oriel's call has returned. */
static inline int error_of_call(const struct window *window, int rc)
{
	return rc ? error_of_oriel(window, rc) : MPI_SUCCESS;
}

/* Raise an error that the layer itself has found. */
int error_on_window(const struct window *window, int class, const char *call, const char *why);
int error_on_comm(MPI_Comm comm, int class, const char *text);

int error_class(int rc);

/* Returns the class's code, and sets its text. */
int error_code(int class, const char *text);

#endif
