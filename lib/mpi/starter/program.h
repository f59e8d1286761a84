/* SPDX-License-Identifier: BSD-2-Clause */
/* program.h - finds the program to run, and checks that a library can be preloaded into it */
#ifndef ORIEL_MPI_PROGRAM_H
#define ORIEL_MPI_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

struct program {
	char path[PATH_MAX];
	bool here; /* found in the working directory, which is not in PATH */
};

/* Each prints a message and exits if there is no such program, or it cannot be served. */
void program_find(struct program *program, const char *name);
void program_check(const struct program *program);

#endif
