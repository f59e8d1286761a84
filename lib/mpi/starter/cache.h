/* SPDX-License-Identifier: BSD-2-Clause */
/* cache.h - ld.so.cache, the dynamic linker's index of libraries that no search path names */
#ifndef ORIEL_MPI_CACHE_H
#define ORIEL_MPI_CACHE_H

#include <stddef.h>

struct cache {
	const char *bytes; /* begins at the header; NULL: there is no cache */
	size_t size;
};

/* Never unmapped: execvp soon replaces the process. */
struct cache cache_open(const char *path);

/* Returns the path of the next library of that name, or NULL. *at begins as 0. */
const char *cache_find(const struct cache *cache, const char *name, size_t *at);

#endif
