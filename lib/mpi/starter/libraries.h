/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libraries.h - the libraries that the dynamic linker loads with a program, in its order
 *
 * DESIGN NOTES
 *
 * This does what ldd does, but runs nothing. It finds the needed libraries breadth first, in the
 * order of ld.so(8): DT_RPATH of the loader and of its loaders, LD_LIBRARY_PATH, DT_RUNPATH,
 * ld.so.cache, the default folders. A name is returned before its file is read: a program linked
 * with an MPI needs no other file.
 *
 * glibc-hwcaps, $LIB, $PLATFORM and filter libraries are not supported: no MPI needs them.
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
	IMAGE_OTHER,   /* not ELF, or not readable */
	IMAGE_FOREIGN, /* for another architecture */
	IMAGE_STATIC,  /* no dynamic section */
	IMAGE_DYNAMIC,
};

struct image {
	const char *bytes; /* or NULL */
	size_t size;
	size_t dynamic; /* offset of the dynamic section, of at most dynamic_count entries */
	size_t dynamic_count;
	size_t strings;  /* offset of the string table; `size`: none */
	bool has_linker; /* has PT_INTERP, as programs have */
};

/* Only an IMAGE_DYNAMIC image stays open. */
enum image_kind image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* Returns the next needed library's name, or NULL. *at begins as 0. */
const char *image_needed(const struct image *image, size_t *at);

/* Returns the text of DT_RPATH or DT_RUNPATH, or NULL. */
const char *image_text(const struct image *image, ElfW(Sxword) tag);

/* Returns whether the file has the text. */
bool image_has_text(const char *path, const char *text);

/* cache.c: ld.so.cache, the dynamic linker's index of libraries */

struct cache {
	const char *bytes; /* from the header on; NULL: no cache */
	size_t size;
};

/* Never unmapped: execvp soon replaces the process. */
struct cache cache_open(const char *path);

/* Returns the path of the next library of that name, or NULL. *at begins as 0. */
const char *cache_find(const struct cache *cache, const char *name, size_t *at);

#define LIBRARIES_MAX 1024 /* others are ignored */

struct library {
	const char *name;             /* as in DT_NEEDED; the program's path */
	const struct library *loader; /* the first that needs it, or NULL */
	struct image image;           /* open if the file has been found */
	char *folder;                 /* $ORIGIN, or NULL */
};

struct libraries {
	struct library *list; /* LIBRARIES_MAX entries, the program first */
	size_t count;
	size_t opened; /* entries whose needs are listed */
	size_t returned;
	char *program;   /* its path without symbolic links; NULL: unknown */
	char *preloaded; /* LD_PRELOAD, split into names; or NULL */
	struct cache cache;
};

/* The program's libraries and those of LD_PRELOAD. Returns -1 if there is no memory. */
int libraries_open(struct libraries *libraries, const char *path);

const char *libraries_next(struct libraries *libraries);

void libraries_close(struct libraries *libraries);

/* Returns the version of the library NAME.VERSION that the program is linked with, or -1. */
int libraries_version_of(const char *path, const char *name);

#endif
