/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libraries.h - the libraries that the dynamic linker will load with a program, in its order
 *
 * DESIGN NOTES
 *
 * It does what ldd does without running anything: reads which libraries the program needs, finds them, and goes on with
 * what those need, breadth first. A library is looked for where ld.so(8) looks: DT_RPATH of who needs it and of who
 * needed that, LD_LIBRARY_PATH, DT_RUNPATH, ld.so.cache, the default folders. Names come as soon as they are known, so
 * for a program that is linked with an MPI itself no file but its own is read.
 *
 * Left out, since no MPI is found or missed by it: folders for one kind of processor (glibc-hwcaps), $LIB and $PLATFORM
 * in paths, libraries that are filters for others.
 */
#ifndef ORIEL_MPI_LIBRARIES_H
#define ORIEL_MPI_LIBRARIES_H

#include <limits.h>
#include <stddef.h>

#include "mpi/starter/cache.h"
#include "mpi/starter/image.h"

#define LIBRARIES_MAX 1024 /* those behind are not looked at */

struct library {
	const char *name;             /* as it is needed; the program's is its path */
	const struct library *loader; /* the first that needs it; NULL: the program, or what is preloaded */
	struct image image;           /* open when it has been found */
	char folder[PATH_MAX];        /* that $ORIGIN stands for */
};

struct libraries {
	struct library *list; /* of LIBRARIES_MAX; the program is the first */
	size_t count;
	size_t opened; /* so many have been looked for, and what they need is in the list */
	size_t told;
	char *program;   /* its path without symbolic links, as $ORIGIN has it; NULL: unknown */
	char *preloaded; /* a copy of LD_PRELOAD, cut into names; NULL: there is none */
	struct cache cache;
};

/* Of the program at path; what LD_PRELOAD names is among them. -1: there is no memory. */
int libraries_open(struct libraries *libraries, const char *path);

/* The next library's name; NULL: no more. */
const char *libraries_next(struct libraries *libraries);

void libraries_close(struct libraries *libraries);

#endif
