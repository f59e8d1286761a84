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

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * image.c: which libraries an ELF file needs
 *
 * The mapped file is not trusted: a field that points outside of it counts as absent.
 */

enum image_kind {
	IMAGE_OTHER,   /* not ELF, or not readable: a script, for example */
	IMAGE_FOREIGN, /* for another architecture */
	IMAGE_STATIC,  /* without a dynamic section */
	IMAGE_DYNAMIC,
};

struct image {
	const char *bytes; /* NULL: not mapped */
	size_t size;
	size_t dynamic; /* offset of the dynamic section; its entries are dynamic_count at most */
	size_t dynamic_count;
	size_t strings;  /* offset of the string table; equal to size: there is none */
	bool has_linker; /* has PT_INTERP, as programs have */
};

/* Only an IMAGE_DYNAMIC image stays open. */
enum image_kind image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* Returns the name of the next needed library, or NULL. *at begins as 0. */
const char *image_needed(const struct image *image, size_t *at);

/* Returns the text of DT_RPATH or DT_RUNPATH, or NULL. */
const char *image_text(const struct image *image, ElfW(Sxword) tag);

/* cache.c: ld.so.cache, the dynamic linker's index of libraries that no search path names */

struct cache {
	const char *bytes; /* begins at the header; NULL: there is no cache */
	size_t size;
};

/* Never unmapped: execvp soon replaces the process. */
struct cache cache_open(const char *path);

/* Returns the path of the next library of that name, or NULL. *at begins as 0. */
const char *cache_find(const struct cache *cache, const char *name, size_t *at);

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
