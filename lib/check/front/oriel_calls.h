/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oriel_calls.h - liboriel-check.so: the calls of oriel.h, in front of liboriel.so; see write.h
 *
 * LD_PRELOAD puts it there (oriel-check). Calls that neither move data nor order ranks are not
 * taken. Operations are in oriel_operation_calls.c, flushes, epochs and signals in
 * oriel_epoch_calls.c, windows in oriel_window_calls.c, and the job in oriel_calls.c.
 */
#ifndef ORIEL_CHECK_ORIEL_CALLS_H
#define ORIEL_CHECK_ORIEL_CALLS_H

#include "check/front/watch.h"
#include "oriel.h"

#define HERE(name) ((struct place){ name, __builtin_return_address(0) })

/* Returns NULL for a window that is not recorded. */
static inline struct window *window_of(const oriel_win *win)
{
	return window_find((uint64_t)(uintptr_t)win);
}

/* Returns the member's rank in the job. */
static inline int rank_of(const struct window *window, int member)
{
	return member >= 0 && member < window->count ? window->ranks[member] : -1;
}

/* Records that a call of a window was refused, if it was. */
void add_refused(struct place here, const struct window *window, int member, int rc);

/*
 * Ends a call that was recorded before it was made. If it has failed, it may have done a part: what
 * orders accesses from here on is not known.
 */
int leave_failed(struct place here, const oriel_win *win, int rc);

static inline int leave(struct place here, const oriel_win *win, int rc)
{
	return rc >= 0 ? rc : leave_failed(here, win, rc);
}

/* Records an event of the window; member -1: of all members, or of none. */
void add_call(struct place here, const oriel_win *win, enum trace_kind kind, int member, uint16_t flags, uint64_t id);

/* Records an event after a call, if it has succeeded. A failed one orders nothing. */
int leave_with(struct place here, const oriel_win *win, enum trace_kind kind, int member, uint16_t flags, int rc);

/* Ends a call that was recorded before it was made, and whose end is recorded, too. */
int leave_ended(struct place here, const oriel_win *win, enum trace_kind kind, int member, int rc);

/* Returns the group's ranks in its job, or NULL. The caller frees them. */
int *ranks_of(const oriel_group *group, int count);

/* A call begins that makes a window, or a group that can share memory. */
void begin_making(struct place here);

#endif
