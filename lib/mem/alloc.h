// SPDX-License-Identifier: BSD-2-Clause
/*
 * alloc.h - memory of oriel_alloc: registered memory files, which ranks of this node can map
 */
#ifndef ORIEL_ALLOC_H
#define ORIEL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "verbs/devices.h"

struct oriel_job;

struct allocation {
	struct allocation *next;
	void *base;
	size_t size_bytes; /* whole pages */
	int fd;
	struct registration registration;
};

/* Guarded by job->lock. */
struct allocations {
	struct allocation *list;
};

/* Returns whether [base, base + size_bytes) lies in memory of oriel_alloc. */
bool alloc_holds(struct oriel_job *job, const void *base, size_t size_bytes);

#endif
