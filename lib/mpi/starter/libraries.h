/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libraries.h - the libraries that the dynamic linker loads with a program, in its order
 *
 * DESIGN NOTES
 *
 * This does what ldd does, but runs nothing: it finds the libraries that the program needs, then
 * those that they need, breadth first. It searches in the order of ld.so(8): DT_RPATH of the loader
 * and of its loaders, LD_LIBRARY_PATH, DT_RUNPATH, ld.so.cache, the default folders. A name is
 * returned as soon as it is known: of a program that is linked with an MPI itself, no other file is
 * read.
 *
 * Not supported, since no MPI is found or missed by it: folders for one kind of processor
 * (glibc-hwcaps), $LIB and $PLATFORM in paths, filter libraries.
 */
#ifndef ORIEL_MPI_LIBRARIES_H
#define ORIEL_MPI_LIBRARIES_H

#include <limits.h>
#include <stddef.h>

#include "mpi/starter/cache.h"
#include "mpi/starter/image.h"

#define LIBRARIES_MAX 1024 /* further ones are ignored */

struct library {
	const char *name;             /* as DT_NEEDED has it; for the program, its path */
	const struct library *loader; /* the first that needs it; the program's own: NULL */
	struct image image;           /* open if the file has been found */
	char folder[PATH_MAX];        /* the value of $ORIGIN in its paths */
};

struct libraries {
	struct library *list; /* LIBRARIES_MAX entries; the program is the first */
	size_t count;
	size_t opened; /* entries that have been searched for, and whose needs are listed */
	size_t told;
	char *program;   /* its path without symbolic links, for $ORIGIN; NULL: unknown */
	char *preloaded; /* a copy of LD_PRELOAD, split into names; or NULL */
	struct cache cache;
};

/* The program's libraries and those of LD_PRELOAD. Returns -1 if there is no memory. */
int libraries_open(struct libraries *libraries, const char *path);

const char *libraries_next(struct libraries *libraries);

void libraries_close(struct libraries *libraries);

#endif
