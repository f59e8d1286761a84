// SPDX-License-Identifier: BSD-2-Clause
/* Descriptors that the engine watches. See loop.c. */
#ifndef SOFT_LOOP_H
#define SOFT_LOOP_H

#include <stdint.h>

#include "soft/base/export.h"

typedef void soft_engine_fn(void *arg);

/* Opens the loop. Returns 0 or an errno value. */
int soft_loop_open(void);
void soft_loop_close(void);
/*
 * Around a fork: the table does not change, in the child, too, until soft_loop_let_go. The child
 * calls soft_loop_forked before that, which closes the watched descriptors and watches none.
 */
void soft_loop_hold(void);
void soft_loop_let_go(void);
void soft_loop_forked(void);
/*
 * For the engine: waits for one event until the time until_ns (UINT64_MAX: for ever), and serves
 * it.
 */
void soft_loop_turn(uint64_t now_ns, uint64_t until_ns);

/* Calls fn(arg) on the engine thread whenever fd is readable. Returns 0 or an errno value. */
SOFT_EXPORT int softverbs_watch(int fd, soft_engine_fn *fn, void *arg);
/* Changes the function; the current one calls this, so that no event is missed in between. */
SOFT_EXPORT void softverbs_watch_on(int fd, soft_engine_fn *fn, void *arg);
/*
 * On return no call of fn is running and none will follow, unless fn itself calls this on the
 * engine thread.
 */
SOFT_EXPORT void softverbs_unwatch(int fd);

/* Wakes the engine that sleeps on this eventfd, a peer's or this process's. */
void soft_wake(int fd);
/* Makes the engine check its timers. */
void soft_engine_wake(void);

#endif
