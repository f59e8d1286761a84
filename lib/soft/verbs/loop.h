// SPDX-License-Identifier: BSD-2-Clause
/* Descriptors that the engine watches. See loop.c. */
#ifndef SOFT_LOOP_H
#define SOFT_LOOP_H

#include <stdint.h>

#include "soft/verbs/export.h"

typedef void soft_engine_fn(void *arg);

/* 0 or an errno value. */
int soft_loop_open(void);
void soft_loop_close(void);
/*
 * Around a fork: the table stays as it is, in the child too until it is let go. _forked, in the child
 * and before that: nothing is watched, and what was is closed.
 */
void soft_loop_hold(void);
void soft_loop_let_go(void);
void soft_loop_forked(void);
/*
 * The engine: wait for one event, until the clock says until_ns (UINT64_MAX: for ever), and serve
 * it.
 */
void soft_loop_turn(uint64_t now_ns, uint64_t until_ns);

/* Call fn(arg) on the engine thread whenever fd is readable. 0 or an errno value. */
SOFT_EXPORT int softverbs_watch(int fd, soft_engine_fn *fn, void *arg);
/* From now on another function; by the one that is called now, so that nothing is missed between. */
SOFT_EXPORT void softverbs_watch_on(int fd, soft_engine_fn *fn, void *arg);
/*
 * No call is running and none will follow when this returns, unless called on the engine thread by
 * fn itself.
 */
SOFT_EXPORT void softverbs_unwatch(int fd);

/* Wake the engine that sleeps on this eventfd, a peer's or our own. */
void soft_wake(int fd);
/* The engine looks at its timers again. */
void soft_engine_wake(void);

#endif
