// SPDX-License-Identifier: BSD-2-Clause
/*
 * blocked.h - why a thread waits on a window, for the board (see/board.h) and the watchdog
 *
 * For looks. A look whose reason is not used (wait_says_why) costs nothing.
 */
#ifndef ORIEL_BLOCKED_H
#define ORIEL_BLOCKED_H

#include "sync/wait.h"
#include "win/win.h"

/*
 * Notes why operations to this target, or the end of their epoch, have to wait, and for a lock
 * which processes hold it. The caller holds win->lock.
 */
void blocked_on_target(const struct oriel_win *win, const struct link *link, struct wait *wait);

/* Does what blocked_on_target does. Takes win->lock. */
void blocked_by_target(struct oriel_win *win, const struct link *link, struct wait *wait);

/* Notes another cause, and which epochs are open. Takes win->lock. */
void blocked_by(struct oriel_win *win, struct wait *wait, enum board_cause cause);

#endif
