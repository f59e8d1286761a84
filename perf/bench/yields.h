// SPDX-License-Identifier: BSD-2-Clause
/*
 * yields.h - how often this process has yielded its processor
 *
 * yields.c defines sched_yield for all code that is linked statically, such as Oriel. Calls of
 * shared libraries do not count.
 */
#ifndef ORIEL_PERF_YIELDS_H
#define ORIEL_PERF_YIELDS_H

/* Returns the count of all threads. */
long yields_so_far(void);

#endif
