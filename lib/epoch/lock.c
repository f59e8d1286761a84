// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock.c - lock and unlock of one member
 *
 * A link with LINK_LOCKING has a thread inside lock or unlock; a second thread gets an error (L25).
 * win/lock_words.c takes and gives back the lock.
 */
#include "base/err.h"
#include "base/order.h"
#include "epoch/general.h"
#include "job/group.h"
#include "job/job.h"
#include "sync/wait.h"
#include "op/enter.h"
#include "op/target.h"
#include "win/epoch.h"
#include "win/link.h"
#include "win/lock_mapped.h"
#include "win/lock_words.h"
#include "win/origin.h"
#include "win/win.h"

static int rank_check(const struct oriel_win *win, int rank, const char *call)
{
	if (rank >= 0 && rank < win->group->size)
		return 0;
	return err_set(ORIEL_ERR_RANK, "%s: %s: target rank %d, its group has ranks 0 to %d", call, win->label, rank,
	               win->group->size - 1);
}

static int lock_check(struct oriel_win *win, enum oriel_lock_type type, int rank, int assertions)
{
	int rc = rank_check(win, rank, "oriel_win_lock");

	if (rc)
		return rc;
	if (assertions & ~ORIEL_MODE_NOCHECK)
		return err_set(ORIEL_ERR_ARG, "oriel_win_lock: %s: assertions 0x%x, only ORIEL_MODE_NOCHECK (0x%x) is legal",
		               win->label, (unsigned)assertions, ORIEL_MODE_NOCHECK);
	if (type != ORIEL_LOCK_SHARED && type != ORIEL_LOCK_EXCLUSIVE)
		return err_set(ORIEL_ERR_ARG,
		               "oriel_win_lock: %s: type %d, must be ORIEL_LOCK_SHARED (%d) or ORIEL_LOCK_EXCLUSIVE (%d)",
		               win->label, (int)type, ORIEL_LOCK_SHARED, ORIEL_LOCK_EXCLUSIVE);
	if (win->info.no_locks)
		return err_set(ORIEL_ERR_SYNC, "oriel_win_lock: %s: it was made with the hint no_locks", win->label);
	return epoch_check(win, CALL_LOCK, "oriel_win_lock");
}

/* Finds and marks the link. */
static int lock_begin_any(struct oriel_win *win, enum oriel_lock_type type, int rank, bool nocheck, struct link **link)
{
	int rc;

	*link = link_find(win, rank);
	rc = *link ? 0 : link_get(win, rank, link);
	if (rc == 0 && link_state(*link) != LINK_READY)
		rc = link_prefetch(win, *link);
	if (rc)
		return rc;
	if ((*link)->marks & LINK_LOCK)
		return err_set(ORIEL_ERR_SYNC, "oriel_win_lock: %s: rank %d is %s", win->label, rank,
		               (*link)->marks & LINK_LOCKING ? "being locked or unlocked by another thread"
		                                             : "locked already; unlock it first");
	lock_begun(win, *link, type);
	if (nocheck)
		(*link)->marks |= LINK_NOCHECK | LINK_GRANTED;
	return 0;
}

/* Ends the attempt to lock. */
static void lock_end(struct oriel_win *win, struct link *link, int rc)
{
	link->marks &= (uint16_t)~LINK_LOCKING;
	if (rc == 0) {
		link->marks |= LINK_ACCESS;
		return;
	}
	if (wait_can_repeat(rc))
		lock_give_up(win, link);
	link->marks &= LINK_LASTING;
	lock_ended(win);
}

static int lock_link(struct oriel_win *win, struct link *link)
{
	int rc = link_lost(link) ? win_peer_error(win, link->rank) : 0;

	if (rc == 0 && !(link->marks & LINK_GRANTED) && !link_grant(win, link))
		rc = link_await_grant(win, link, "oriel_win_lock");
	lock_end(win, link, rc);
	return rc;
}

int lock_member(struct oriel_win *win, enum oriel_lock_type type, int rank, int assertions)
{
	struct link *link;
	int rc = lock_check(win, type, rank, assertions);

	if (rc == 0)
		rc = lock_begin_any(win, type, rank, assertions & ORIEL_MODE_NOCHECK, &link);
	if (rc == 0)
		rc = lock_link(win, link);
	return rc ? err_in(rc, "oriel_win_lock") : 0;
}

int lock_any(struct oriel_win *win, enum oriel_lock_type type, int rank, int assertions)
{
	int rc = win_enter(win, "oriel_win_lock");

	if (rc)
		return rc;
	rc = lock_member(win, type, rank, assertions);
	win_leave(win);
	return rc;
}

/* Finds the link, and takes the right to close its epoch. */
static int unlock_begin(struct oriel_win *win, int rank, struct link **link)
{
	int rc = rank_check(win, rank, "oriel_win_unlock");

	if (rc == 0)
		rc = epoch_check(win, CALL_UNLOCK, "oriel_win_unlock");
	if (rc)
		return rc;
	*link = link_find(win, rank);
	if (!*link || !((*link)->marks & LINK_LOCK))
		return err_set(ORIEL_ERR_SYNC, "oriel_win_unlock: %s: rank %d is not locked", win->label, rank);
	if ((*link)->marks & LINK_LOCKING)
		return err_set(ORIEL_ERR_SYNC, "oriel_win_unlock: %s: another thread is locking or unlocking rank %d",
		               win->label, rank);
	(*link)->marks |= LINK_LOCKING;
	gate_close(*link);
	return 0;
}

static int unlock_link(struct oriel_win *win, struct link *link)
{
	struct unlocking unlocking = { .win = win, .only = link, .call = "oriel_win_unlock" };
	int rc = unlock_run(&unlocking);

	if (wait_can_repeat(rc))
		link->marks &= (uint16_t)~LINK_LOCKING;
	else
		lock_ended(win);
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc;
}

int unlock_member(struct oriel_win *win, int rank)
{
	struct link *link;
	int rc = unlock_begin(win, rank, &link);

	if (rc == 0)
		rc = unlock_link(win, link);
	return rc ? err_in(rc, "oriel_win_unlock") : win_sticky_held(win, "oriel_win_unlock");
}

int unlock_any(struct oriel_win *win, int rank)
{
	int rc = win_enter_closing(win, "oriel_win_unlock");

	if (rc)
		return rc;
	rc = unlock_member(win, rank);
	win_leave(win);
	return rc;
}

static int orphaned(struct oriel_win *win, int rank)
{
	const struct link *link;
	int rc = rank_check(win, rank, "oriel_win_lock_orphaned");

	if (rc)
		return rc;
	link = link_find(win, rank);
	if (link && (link->marks & LINK_LOCK) && (link->marks & LINK_GRANTED))
		return lock_is_orphaned(win, link);
	if (win->sync & SYNC_LOCK_ALL)
		return 0; /* its lock has not been taken yet */
	return err_set(ORIEL_ERR_SYNC, "oriel_win_lock_orphaned: %s: rank %d is not locked", win->label, rank);
}

int oriel_win_lock_orphaned(oriel_win *win, int target_rank)
{
	int rc = win_check(win, "oriel_win_lock_orphaned");

	if (rc)
		return rc;
	owned_lock_take(&win->lock);
	rc = orphaned(win, target_rank);
	win_leave(win);
	return rc;
}

int oriel_win_sync(oriel_win *win)
{
	int rc = win_check(win, "oriel_win_sync");

	if (rc == 0)
		full_fence(); /* pairs with whatever fence or flag others have between their accesses */
	return rc;
}
