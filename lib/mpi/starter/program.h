/* SPDX-License-Identifier: BSD-2-Clause */
/* program.h - where the program is that is to be run, and whether a library can be loaded before it */
#ifndef ORIEL_MPI_PROGRAM_H
#define ORIEL_MPI_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

struct program {
	char path[PATH_MAX];
	bool here; /* it was found in the working directory, to which no path leads */
};

/* Each ends this process, having said why, where the program is not there or cannot be served. */
void program_find(struct program *program, const char *name);
void program_check(const struct program *program);

#endif
