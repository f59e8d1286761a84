// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_all.c - a shared lock on every member
 *
 * A member becomes a target with the first operation to it (op/target.c), and what is deferred for
 * it goes out once its lock is held (link_grant). The call itself locks the memory that this rank
 * may load and store without an operation: its own, which costs no message, and in a shared window
 * every member's (L7). oriel_win_shared_query locks the memory whose address it returns.
 */
#include "base/err.h"
#include "epoch/general.h"
#include "sync/wait.h"
#include "job/group.h"
#include "op/enter.h"
#include "op/flush_all.h"
#include "op/target.h"
#include "win/epoch.h"
#include "win/link.h"
#include "win/lock_mapped.h"
#include "win/lock_words.h"
#include "win/origin.h"
#include "win/win.h"

static int lock_all_check(struct oriel_win *win, int assertions)
{
	if (assertions & ~ORIEL_MODE_NOCHECK)
		return err_set(ORIEL_ERR_ARG,
		               "oriel_win_lock_all: %s: assertions 0x%x, only ORIEL_MODE_NOCHECK (0x%x) is legal", win->label,
		               (unsigned)assertions, ORIEL_MODE_NOCHECK);
	if (win->info.no_locks)
		return err_set(ORIEL_ERR_SYNC, "oriel_win_lock_all: %s: it was made with the hint no_locks", win->label);
	return epoch_check(win, CALL_LOCK_ALL, "oriel_win_lock_all");
}

static int take_own(struct oriel_win *win)
{
	struct link *link = living_link(win, win->group->my_rank);

	if (link && !(link->marks & LINK_ACCESS) && lock_enter_all_mapped(win, link))
		return 0;
	return link_lock_all(win, win->group->my_rank, "oriel_win_lock_all");
}

/* Locks the memory that this rank can reach without an operation. */
static int take_near(struct oriel_win *win)
{
	int rc = 0;

	if (win->info.kind != ORIEL_WIN_SHARED)
		return take_own(win);
	for (int rank = 0; rc == 0 && rank < win->group->size; rank++)
		rc = link_lock_all(win, rank, "oriel_win_lock_all");
	return rc;
}

static int lock_all(struct oriel_win *win, bool nocheck)
{
	int rc;

	win->locks.nocheck = nocheck;
	win->sync |= SYNC_LOCK_ALL | SYNC_LOCKING_ALL;
	win->sync &= ~(unsigned)SYNC_FENCE;
	rc = nocheck ? 0 : take_near(win);
	win->sync &= ~(unsigned)SYNC_LOCKING_ALL;
	if (rc == 0)
		return 0;
	locks_give_back(win);
	win->sync &= ~(unsigned)SYNC_LOCK_ALL;
	return rc;
}

int oriel_win_lock_all(oriel_win *win, int assertions)
{
	int rc = win_enter(win, "oriel_win_lock_all");

	if (rc)
		return rc;
	rc = lock_all_check(win, assertions);
	if (rc == 0)
		rc = lock_all(win, assertions & ORIEL_MODE_NOCHECK);
	win_leave(win);
	return rc ? err_in(rc, "oriel_win_lock_all") : 0;
}

static int unlock_all(struct oriel_win *win)
{
	struct unlocking unlocking = { .win = win, .call = "oriel_win_unlock_all" };
	int rc;

	win->sync |= SYNC_LOCKING_ALL;
	gate_close_all(win);
	rc = unlock_run(&unlocking);
	win->sync &= ~(unsigned)SYNC_LOCKING_ALL;
	if (!wait_can_repeat(rc)) {
		win->sync &= ~(unsigned)SYNC_LOCK_ALL;
		release_epoch_mrs(win);
		flush_all_close(win, rc == ORIEL_ERR_PEER ? unlocking.rank : ORIEL_RANK_NONE);
	}
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, unlocking.rank) : rc;
}

int oriel_win_unlock_all(oriel_win *win)
{
	int rc = win_enter_closing(win, "oriel_win_unlock_all");

	if (rc)
		return rc;
	rc = epoch_check(win, CALL_UNLOCK_ALL, "oriel_win_unlock_all");
	if (rc == 0)
		rc = unlock_all(win);
	win_leave(win);
	return rc ? err_in(rc, "oriel_win_unlock_all") : win_tell_sticky(win, "oriel_win_unlock_all");
}
