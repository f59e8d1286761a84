// SPDX-License-Identifier: BSD-2-Clause
/*
 * enter.h - what every call on a window does first and last
 *
 * On the way of every put and epoch: tests/budget keeps count of its instructions.
 */
#ifndef ORIEL_ENTER_H
#define ORIEL_ENTER_H

#include "job/job.h"
#include "op/issue.h"
#include "win/win.h"

#define WIN_LOOKS 100 /* at what is awaited, as many as a card takes for a small operation, before a wait is set up */

/*
 * How often a word that a peer stores itself is looked at, by no call: not where the device is to
 * be asked as well.
 */
static inline uint32_t win_looks(const struct oriel_win *win)
{
	return win->memory.mappable && !job_oversubscribed(win->job) ? WIN_LOOKS : 0;
}

/* A look for deaths that no call has told (P5), under the lock. ERRORS: ORIEL_ERR_PEER. */
int win_find_sticky(struct oriel_win *win, const char *call);

/*
 * Somebody has died, or has left job or window, since news were last taken, or an operation has
 * failed.
 */
static inline bool win_has_news(const struct oriel_win *win)
{
	/* Pairs with note_loss, deferred_error_note, checked. */
	return counter_load(&win->losses_seen) != counter_load(win->losses);
}

/*
 * For calls that close an epoch: check the handle and take the lock, but tell no sticky error,
 * since that must not keep the epoch open. win_tell_sticky tells it once the epoch is closed.
 * `ring`: no doorbell will follow for what goes out now.
 */
static inline int win_enter_pushing(struct oriel_win *win, const char *call, bool ring)
{
	int rc = win_check(win, call);

	if (rc)
		return rc;
	owned_lock_take(&win->lock);
	if (win->deferred.links > 0 && !(win->sync & (SYNC_COMPLETING | SYNC_LOCKING_ALL)))
		issue_push(win, ring);
	return 0;
}

static inline int win_enter_closing(struct oriel_win *win, const char *call)
{
	return win_enter_pushing(win, call, true);
}

static inline void win_leave(struct oriel_win *win)
{
	owned_lock_give(&win->lock);
}

/*
 * The short way in, for calls that may be done before anything else is called: nothing is to be
 * told or sent, and nobody else wants the lock. False: win_enter is needed; nothing has happened.
 * A window that this thread has entered before is alive as long as the thread owns its lock,
 * which ends with it.
 */
static inline bool win_enter_at_once(struct oriel_win *win)
{
	if (__builtin_expect(win != owned_lock_thread.entered, 0)) {
		if (!handle_valid(HANDLE_WIN, win))
			return false;
		owned_lock_thread.entered = win;
	}
	if (!owned_lock_take_as_owner(&win->lock))
		return false;
	if (win->deferred.links == 0 && !win_has_news(win))
		return true;
	owned_lock_give_as_owner(&win->lock);
	return false;
}

/* The general way in, which takes news and may wait. ERRORS: ORIEL_ERR_HANDLE, ORIEL_ERR_PEER. */
int win_enter_any(struct oriel_win *win, const char *call);

/* For all calls that close no epoch. On success the lock is held, and there is no news. */
static inline int win_enter(struct oriel_win *win, const char *call)
{
	return win_enter_at_once(win) ? 0 : win_enter_any(win, call);
}

static inline void win_leave_at_once(struct oriel_win *win)
{
	owned_lock_give_as_owner(&win->lock);
}

/*
 * For calls that complete operations, when they are through: what has failed since, or after its
 * call (deferred_error.h). The first with the lock, the others without. ERRORS: ORIEL_ERR_PEER;
 * those of operations.
 */
int win_find_refused(struct oriel_win *win, const char *call);
int win_tell_refused(struct oriel_win *win, const char *call);
int win_tell_news(struct oriel_win *win, const char *call);

static inline int win_tell_sticky(struct oriel_win *win, const char *call)
{
	return win_has_news(win) ? win_tell_news(win, call) : 0;
}

#endif
