/* SPDX-License-Identifier: BSD-2-Clause */
/* starter.h - the program to run, its MPI, and messages */
#ifndef ORIEL_MPI_STARTER_H
#define ORIEL_MPI_STARTER_H

#include <limits.h>
#include <stdbool.h>

/* program.c: finds the program to run, and checks that a library can be preloaded into it */

struct program {
	char path[PATH_MAX];
	bool here; /* found in the working directory, which is not in PATH */
};

/* Each prints a message and exits if there is no such program, or it cannot be served. */
void program_find(struct program *program, const char *name);
void program_check(const struct program *program);

/* choice.c: which MPI a program uses */

/*
 * Returns "openmpi" or "mpich", by the program's libraries, else by its starter's environment.
 * Exits if neither names one.
 */
const char *choice_of_mpi(const char *path);

/* Exits if the process was started as one of several ranks by what this MPI does not know. */
void choice_check_starter(const char *mpi, const char *path);

/* say.c: the starter's messages */

#define EXIT_REFUSED 2      /* the command line is wrong, or the program cannot be served */
#define EXIT_CANNOT_RUN 126 /* the exit codes of shells, as is the next */
#define EXIT_NOT_THERE 127  /* the interpreter of a script is missing, for example */

extern const char *say_name; /* argv[0] without its folder */

/* Prints a line to stderr, prefixed with say_name, and exits. */
void say_and_exit(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

#endif
