/* SPDX-License-Identifier: BSD-2-Clause */
/* say.h - the starter's messages */
#ifndef ORIEL_MPI_SAY_H
#define ORIEL_MPI_SAY_H

#define EXIT_REFUSED 2      /* the command line is wrong, or the program cannot be served */
#define EXIT_CANNOT_RUN 126 /* the exit codes of shells, as is the next */
#define EXIT_NOT_THERE 127  /* the interpreter of a script is missing, for example */

extern const char *say_name; /* argv[0] without its folder */

/* Prints a line to stderr, prefixed with say_name, and exits. */
void say_and_exit(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

#endif
