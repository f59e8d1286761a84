/* SPDX-License-Identifier: BSD-2-Clause */
/* cache.h - ld.so.cache, in which the dynamic linker looks for libraries that no path leads to */
#ifndef ORIEL_MPI_CACHE_H
#define ORIEL_MPI_CACHE_H

#include <stddef.h>

struct cache {
	const char *bytes; /* from its header on; NULL: there is none */
	size_t size;
};

/* Stays mapped: the process becomes another program soon. */
struct cache cache_open(const char *path);

/* The path of the next library of that name, from *at on, which begins as 0; NULL: no more. */
const char *cache_find(const struct cache *cache, const char *name, size_t *at);

#endif
