// SPDX-License-Identifier: BSD-2-Clause
/* Descriptors that the engine watches: loop.c. */
#ifndef SOFT_LOOP_H
#define SOFT_LOOP_H

#include <stdint.h>

#include "soft/base/export.h"

typedef void soft_engine_fn(void *arg);

/* Returns 0 or an errno value. */
int soft_loop_open(void);
void soft_loop_close(void);
/*
 * Around a fork: keeps the table unchanged until soft_loop_let_go. Before that, the child calls
 * soft_loop_forked, which closes the watched descriptors and watches none.
 */
void soft_loop_hold(void);
void soft_loop_let_go(void);
void soft_loop_forked(void);
/* For the engine: waits for one event until until_ns (UINT64_MAX: for ever), and serves it. */
void soft_loop_turn(uint64_t now_ns, uint64_t until_ns);

/* Calls fn(arg) on the engine thread whenever fd is readable. Returns 0 or an errno value. */
SOFT_EXPORT int softverbs_watch(int fd, soft_engine_fn *fn, void *arg);
/* Changes the function without missing an event; the current one calls this. */
SOFT_EXPORT void softverbs_watch_on(int fd, soft_engine_fn *fn, void *arg);
/* Returns when no call of fn is running or will follow; fn itself may call this. */
SOFT_EXPORT void softverbs_unwatch(int fd);

/* Wakes the engine that sleeps on this eventfd. */
void soft_wake(int fd);
/* Makes the engine check its timers. */
void soft_engine_wake(void);

#endif
