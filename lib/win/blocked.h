// SPDX-License-Identifier: BSD-2-Clause
/*
 * blocked.h - why a thread waits on a window, for the board (see/board.h) and the watchdog
 *
 * The checks of a wait call these functions, which cost nothing when no reason is wanted
 * (wait_says_why).
 */
#ifndef ORIEL_BLOCKED_H
#define ORIEL_BLOCKED_H

#include "sync/wait.h"
#include "win/win.h"

/*
 * Notes why operations to this target, or the end of their epoch, wait; for a lock also the
 * processes that hold it. Under win->lock.
 */
void blocked_on_target(const struct oriel_win *win, const struct link *link, struct wait *wait);

/* Calls blocked_on_target under win->lock. */
void blocked_by_target(struct oriel_win *win, const struct link *link, struct wait *wait);

/*
 * Notes another cause, and the open epochs. `peer` is the rank to ask, or NULL; `count` is how
 * often this rank has done its part. Takes win->lock.
 */
void blocked_by(struct oriel_win *win, struct wait *wait, enum board_cause cause, struct peer *peer, uint64_t count);

/* Returns whether a member with this word holds the lock, for display. */
bool blocked_is_holder(uint64_t state, uint64_t ticket, uint64_t serving);

#endif
