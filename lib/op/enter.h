// SPDX-License-Identifier: BSD-2-Clause
/*
 * enter.h - what every call on a window does first and last
 *
 * tests/budget counts the instructions of this code.
 */
#ifndef ORIEL_ENTER_H
#define ORIEL_ENTER_H

#include "job/job.h"
#include "op/issue.h"
#include "win/win.h"

#define WIN_LOOKS 100 /* polls before a wait is set up, as many as a card's small operation takes */

/* Returns how often to poll a word that a peer stores; 0 if the device must be polled, too. */
static inline uint32_t win_looks(const struct oriel_win *win)
{
	return win->memory.mappable && !job_oversubscribed(win->job) ? WIN_LOOKS : 0;
}

/*
 * Checks for deaths that no call has reported (P5). The caller holds win->lock. ERRORS:
 * ORIEL_ERR_PEER.
 */
int win_find_sticky(struct oriel_win *win, const char *call);

/*
 * Returns whether a member has died, or has left job or window, or an operation has failed, since
 * news were last taken.
 */
static inline bool win_has_news(const struct oriel_win *win)
{
	/* Pairs with note_loss, deferred_error_note, checked. */
	return counter_load(&win->losses_seen) != counter_load(win->losses);
}

/*
 * Enters the window for a call that closes an epoch: checks the handle and takes win->lock, but
 * reports no sticky error, which must not keep the epoch open. win_tell_sticky reports it once the
 * epoch is closed. `ring`: no doorbell will follow what is posted now.
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

/* Leaves the window and returns the general path's rc. Not inline: fast paths save no registers. */
int win_leave_with(struct oriel_win *win, int rc);

/*
 * Enters the window on the fast path: nothing has to be reported or sent, and no other thread wants
 * the lock. False: nothing has happened. A window that this thread has entered before is alive as
 * long as the thread owns its lock.
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

/*
 * Enters the window on the general path, which takes news and may wait. ERRORS: ORIEL_ERR_HANDLE,
 * ORIEL_ERR_PEER.
 */
int win_enter_any(struct oriel_win *win, const char *call);

/*
 * Enters the window for a call that closes no epoch. On success win->lock is held, and there is no
 * news.
 */
static inline int win_enter(struct oriel_win *win, const char *call)
{
	return win_enter_at_once(win) ? 0 : win_enter_any(win, call);
}

static inline void win_leave_at_once(struct oriel_win *win)
{
	owned_lock_give_as_owner(&win->lock);
}

/*
 * Report what has failed since the call began, or after its own call (deferred_error.h), at the end
 * of completing calls. The caller of those named _find holds win->lock, that of win_tell_news does
 * not. ERRORS: ORIEL_ERR_PEER; those of operations.
 */
int win_find_refused(struct oriel_win *win, const char *call);
int win_find_news(struct oriel_win *win, const char *call);
int win_tell_news(struct oriel_win *win, const char *call);

static inline int win_tell_sticky(struct oriel_win *win, const char *call)
{
	return win_has_news(win) ? win_tell_news(win, call) : 0;
}

/* Does what win_tell_sticky does for a caller that holds win->lock. */
static inline int win_sticky_held(struct oriel_win *win, const char *call)
{
	return win_has_news(win) ? win_find_news(win, call) : 0;
}

#endif
