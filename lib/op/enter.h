// SPDX-License-Identifier: BSD-2-Clause
/*
 * enter.h - what every call on a window does first and last
 *
 * On the way of every put and epoch: tests/budget keeps count of its instructions.
 */
#ifndef ORIEL_ENTER_H
#define ORIEL_ENTER_H

#include "op/issue.h"
#include "win/win.h"

/* A look for sticky errors (P5), under the lock. ERRORS: ORIEL_ERR_PEER. */
int win_find_sticky(struct oriel_win *win, const char *call);

/* Somebody has died since sticky errors were last looked for. */
static inline bool win_has_news(const struct oriel_win *win)
{
	return counter_load(&win->deaths_seen) != counter_load(win->deaths); /* pairs with rank_died */
}

/*
 * For calls that close an epoch: check the handle and take the lock, but tell no sticky error, since
 * that must not keep the epoch open. win_tell_sticky tells it once the epoch is closed.
 */
static inline int win_enter_closing(struct oriel_win *win, const char *call)
{
	int rc = win_check(win, call);

	if (rc)
		return rc;
	owned_lock_take(&win->lock);
	if (win->held.count > 0 && (win->sync & (SYNC_ACCESS | SYNC_COMPLETING)) == SYNC_ACCESS)
		issue_push(win);
	return 0;
}

/* For all other calls. On success the lock is held. */
static inline int win_enter(struct oriel_win *win, const char *call)
{
	int rc = win_enter_closing(win, call);

	if (rc || !win_has_news(win))
		return rc;
	rc = win_find_sticky(win, call);
	if (rc)
		owned_lock_give(&win->lock);
	return rc;
}

static inline void win_leave(struct oriel_win *win)
{
	owned_lock_give(&win->lock);
}

/* Without the lock. ERRORS: ORIEL_ERR_PEER. */
int win_tell_sticky(struct oriel_win *win, const char *call);

#endif
