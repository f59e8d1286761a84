// SPDX-License-Identifier: BSD-2-Clause
/*
 * yields.h - how often this process has let others onto its processor
 *
 * yields.c defines sched_yield, which the backend calls, and what it is linked with statically, Oriel among
 * it. What a shared library calls is not counted.
 */
#ifndef ORIEL_PERF_YIELDS_H
#define ORIEL_PERF_YIELDS_H

/* By all threads, so far. */
long yields_so_far(void);

#endif
