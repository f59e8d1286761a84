/* SPDX-License-Identifier: BSD-2-Clause */
/* starter.h - the program to run, its MPI, and messages */
#ifndef ORIEL_MPI_STARTER_H
#define ORIEL_MPI_STARTER_H

#include <limits.h>
#include <stdbool.h>

/* program.c: finds the program, and checks that a library can be preloaded into it */

struct program {
	char path[PATH_MAX];
	bool here; /* in the working directory, not in PATH */
};

/* Each exits with a message if there is no such program, or it cannot be served. */
void program_find(struct program *program, const char *name);
void program_check(const struct program *program);

/* choice.c: which MPI a program uses */

/*
 * Returns "openmpi" or "mpich", by the program's libraries, else by its starter's variables. Exits
 * if neither names one.
 */
const char *choice_of_mpi(const char *path);

/* Exits if an unknown starter has started the process as one of several ranks. */
void choice_check_starter(const char *mpi, const char *path);

/* say.c: the starter's messages */

#define EXIT_REFUSED 2      /* a wrong command line, or a program that cannot be served */
#define EXIT_CANNOT_RUN 126 /* the exit codes of shells, as is the next */
#define EXIT_NOT_THERE 127  /* or a script's interpreter is missing */

extern const char *say_name; /* argv[0] without its folder */

/* Prints a line with say_name to stderr, and exits. */
void say_and_exit(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

#endif
