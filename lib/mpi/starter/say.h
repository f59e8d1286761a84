/* SPDX-License-Identifier: BSD-2-Clause */
/* say.h - what the starter itself has to say to its user */
#ifndef ORIEL_MPI_SAY_H
#define ORIEL_MPI_SAY_H

#define EXIT_REFUSED 2      /* the command line is wrong, or the program cannot be served */
#define EXIT_CANNOT_RUN 126 /* as shells have it, as the next */
#define EXIT_NOT_THERE 127  /* a script's interpreter, for example */

extern const char *say_name; /* as it has been called, without its folder */

/* A line on stderr with the name in front, and the end. */
void say_and_exit(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

#endif
