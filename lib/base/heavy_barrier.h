// SPDX-License-Identifier: BSD-2-Clause
/*
 * heavy_barrier.h - a full fence in all processes that take part, made by one of them
 *
 * If two processes each store a word and then load the other's, at least one of them has to see the
 * other's store, so both need a fence between the two. If one does it often and the other rarely,
 * the latter can make the fence for both, with the kernel's membarrier.
 */
#ifndef ORIEL_HEAVY_BARRIER_H
#define ORIEL_HEAVY_BARRIER_H

#include <stdbool.h>

/* Makes this process take part from now on. Returns false if the kernel has no membarrier. */
bool heavy_barrier_join(void);

/*
 * Returns true if every thread of every process that takes part, the calling one included, has
 * executed a full fence between the call and its return. False: nothing is known, and the processes
 * that have joined do not learn of it.
 */
bool heavy_barrier(void);

#endif
