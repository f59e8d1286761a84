// SPDX-License-Identifier: BSD-2-Clause
/*
 * heavy_barrier.h - a full fence in all processes that take part, made by one of them
 *
 * Where two processes each store a word and then load the other's, one of them has to see the other, for which
 * both need a fence between the two. If one of them does it all the time and the other hardly ever, the latter
 * can make the fence for both: the kernel's membarrier.
 */
#ifndef ORIEL_HEAVY_BARRIER_H
#define ORIEL_HEAVY_BARRIER_H

#include <stdbool.h>

/* This process takes part, from now on. False: the kernel does not have it. */
bool heavy_barrier_join(void);

/*
 * Every thread of every process that takes part has executed a full fence between the call and its return, the
 * calling one too. False: nothing is known of that; who has joined is not told so.
 */
bool heavy_barrier(void);

#endif
