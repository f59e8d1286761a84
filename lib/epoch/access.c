// SPDX-License-Identifier: BSD-2-Clause
/*
 * access.c - start and complete
 *
 * DESIGN NOTES
 *
 * The target writes `posted` of the flag pair at the origin, and the origin writes `completed` of
 * the flag pair at the target. Both are epoch numbers of this pair of ranks on this window (P2).
 * The n-th start that names a target waits for posted == n; complete writes completed = n behind
 * the data. The target posts n + 1 only after it has seen completed n. So a writer is at most one
 * epoch ahead, and comparing for equality is enough.
 *
 * A target that is dead, or has left the window after an error (LINK_GONE), ends its link with
 * ORIEL_ERR_PEER.
 *
 * Closing goes link by link, in the order in which posts arrive. Gets are waited for, since a flag
 * must not overtake a read. The flag leaves in one list with the small puts. Operations that use
 * the caller's memory are waited for; copied ones are not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "job/group.h"
#include "job/job.h"
#include "win/blocked.h"
#include "win/link.h"
#include "base/order.h"
#include "epoch/general.h"
#include "op/enter.h"
#include "op/issue.h"
#include "win/epoch.h"
#include "win/origin.h"
#include "sync/wait.h"
#include "win/win.h"

static int start_check(struct oriel_win *win, const struct oriel_group *group, int assertions)
{
	int rc;

	if (!handle_valid(HANDLE_GROUP, group) || group->job != win->job)
		return err_set(ORIEL_ERR_HANDLE, "oriel_win_start: %s: the group handle %p is null, freed, or of another job",
		               win->label, (const void *)group);
	if (assertions & ~ORIEL_MODE_NOCHECK)
		return err_set(ORIEL_ERR_ARG, "oriel_win_start: %s: assertions 0x%x, only ORIEL_MODE_NOCHECK (0x%x) is legal",
		               win->label, (unsigned)assertions, ORIEL_MODE_NOCHECK);
	rc = epoch_check(win, CALL_START, "oriel_win_start");
	return rc || group->size == 0 ? rc : epoch_check(win, CALL_FOR_SOMEBODY, "oriel_win_start");
}

/* Makes the next operation end this epoch, also in a fence epoch with operations. */
static void start_nobody(struct oriel_win *win)
{
	win->sync |= SYNC_ACCESS_NOBODY;
	gate_close_all(win);
}

int start_any(struct oriel_win *win, const struct oriel_group *group, int assertions)
{
	int rc = win_enter(win, "oriel_win_start");

	if (rc)
		return rc;
	rc = start_check(win, group, assertions);
	if (rc == 0)
		rc = epoch_open(win, &win->access, group, "oriel_win_start");
	if (rc == 0 && win->access.count > 0)
		start_links(win, assertions & ORIEL_MODE_NOCHECK);
	else if (rc == 0)
		start_nobody(win);
	win_leave(win);
	return rc;
}

/* Closing. The caller holds win->lock. */

/*
 * Returns whether the flag stays behind the data: not behind gets, and behind puts if the device
 * keeps the order. A store stays behind no request.
 */
static bool flag_stays_behind(const struct link *link)
{
	if (link->marks & LINK_GOT)
		return false;
	return !(link->marks & LINK_TOUCHED) || (!link_mapped(link) && link->peer->wire.flag_mode != FLAG_WAIT);
}

static int send_completed(struct link *link)
{
	const size_t word_bytes = offsetof(struct flag_pair, completed);
	struct remote word = link_remote_flags(link);
	uint64_t sent = link->completed_sent;
	int rc;

	word.addr += word_bytes;
	/*
	 * Behind stores the flag is a store, behind requests and active messages a request. Both pair
	 * with the flag_load in exposure_step at the target. This rank has no wire to itself, and
	 * stores.
	 */
	if (link->peer->direct.self || (link_mapped(link) && !link_am_number(link)))
		rc = link_write_flag(link, word_bytes, sent, sent + 1, &link->last_number);
	else if (link->marks & LINK_WAITING)
		rc = wire_flag_signalled(&link->peer->wire, sent, sent + 1, word, &link->last_number);
	else
		rc = wire_flag(&link->peer->wire, sent, sent + 1, word, &link->last_number);
	if (rc)
		return rc;
	link->completed_sent++;
	link->marks |= LINK_FLAGGED;
	return 0;
}

/*
 * Ends the link of a lost member. A living member that has left the window gets the flag: it waits
 * a moment for the end of operations that it has granted.
 */
static int close_lost(struct link *link)
{
	if (link_state(link) == LINK_GONE && (link->marks & (LINK_GRANTED | LINK_FLAGGED)) == LINK_GRANTED)
		send_completed(link);
	return ORIEL_ERR_PEER;
}

/*
 * Carries one link one step towards its end: its flag is sent, and no operation uses memory of the
 * caller. Returns 1 when it has ended, 0, or the error that ends it.
 */
static int close_step(struct oriel_win *win, struct link *link)
{
	int rc = issue_granted(win, link);

	if (rc <= 0)
		return rc == ORIEL_ERR_PEER ? close_lost(link) : rc;
	if (!(link->marks & LINK_FLAGGED)) {
		if (!flag_stays_behind(link)) {
			if (!wire_drive(&link->peer->wire, link->last_number))
				return 0;
			link->marks &= (uint16_t) ~(LINK_WAITING | LINK_TOUCHED); /* none of it can fail any more */
		}
		rc = send_completed(link);
		if (rc)
			return rc;
	}
	if ((link->marks & LINK_GOT) && !link_applied(link, link_am_number(link)))
		return 0;
	return !(link->marks & LINK_WAITING) || wire_drive(&link->peer->wire, link->last_number);
}

struct closing {
	struct oriel_win *win;
	int code;    /* first error of a link */
	int rank;    /* in the window's group */
	bool all;    /* every link is closed */
	bool memory; /* none for a deferred operation; the epoch stays open */
};

static void close_links(struct oriel_win *win, struct closing *closing)
{
	closing->all = true;
	for (uint32_t i = 0; i < win->access.count; i++) {
		struct link *link = win->access.links[i];
		int step = link->marks & LINK_CLOSED ? 1 : close_step(win, link);

		if (step == 0 || step == ORIEL_ERR_MEMORY) {
			closing->all = false;
			closing->memory |= step == ORIEL_ERR_MEMORY;
			continue;
		}
		if (step > 0) {
			link->marks |= LINK_CLOSED;
			continue;
		}
		if (closing->code == 0) {
			closing->code = step;
			closing->rank = link->rank;
		}
		/*
		 * This call reports the loss, no later call does as a deferred error, and a repeated call
		 * finds it again. Any other error belongs to one deferred operation: the others and the
		 * flag still go out.
		 */
		if (step == ORIEL_ERR_PEER)
			link->marks &= (uint16_t) ~(LINK_TOUCHED | LINK_COPIED);
		else
			closing->all = false;
	}
}

static int close_turn(void *arg)
{
	struct closing *closing = arg;

	owned_lock_take(&closing->win->lock);
	close_links(closing->win, closing);
	owned_lock_give(&closing->win->lock);
	return closing->memory ? ORIEL_ERR_MEMORY : closing->all;
}

/* Watches the open links. Returns whether to report a failed link now. */
static int close_watch(void *arg, struct wait *wait)
{
	struct closing *closing = arg;
	const struct epoch *access = &closing->win->access;

	for (uint32_t i = 0; i < access->count; i++) {
		if (access->links[i]->marks & LINK_CLOSED)
			continue;
		blocked_by_target(closing->win, access->links[i], wait);
		link_watch(closing->win, access->links[i], wait);
	}
	return closing->code && wait_lingered(wait);
}

static int close_all(struct closing *closing)
{
	static const struct waiter waiter = { close_turn, close_watch };
	struct wait wait;

	wait_begin(&wait, closing->win->job, "oriel_win_complete", closing->win->label);
	return wait_until(&wait, &waiter, closing);
}

/* Ends the epoch. The marks that stay say which copied puts may still fail. */
static void end_access(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->access.count; i++) {
		struct link *link = win->access.links[i];

		link_leave_copied(win, link);
		link->marks &= (uint16_t)~ACCESS_MARKS;
		link->deferred = 0; /* of a lost target */
	}
	issue_forget_deferred(win);
	if (win->epoch_mrs.count > 0)
		release_epoch_mrs(win);
	win->sync &= ~(unsigned)SYNC_ACCESS_ALL;
}

static int complete_begin(struct oriel_win *win)
{
	int rc = epoch_check(win, CALL_COMPLETE, "oriel_win_complete");

	if (rc)
		return rc;
	win->sync |= SYNC_COMPLETING;
	gate_close_all(win);
	return 0;
}

/* Waits for the links that the first turn, under win->lock, has left open. */
static int complete_rest(struct closing *closing)
{
	int rc = closing->memory ? ORIEL_ERR_MEMORY : 0;

	if (rc || closing->all)
		return rc;
	owned_lock_give(&closing->win->lock);
	rc = close_all(closing);
	owned_lock_take(&closing->win->lock);
	return rc;
}

int complete_held(struct oriel_win *win, uint32_t closed)
{
	struct closing closing = { .win = win };
	int rc;

	for (uint32_t i = 0; i < closed; i++)
		win->access.links[i]->marks |= LINK_ACCESS | LINK_GRANTED | LINK_FLAGGED | LINK_CLOSED;
	rc = complete_begin(win);
	if (rc)
		return rc;
	close_links(win, &closing);
	rc = complete_rest(&closing);
	win->sync &= ~(unsigned)SYNC_COMPLETING;
	if (rc == 0 && closing.all)
		end_access(win);
	if (rc)
		return rc;
	if (closing.code == ORIEL_ERR_PEER)
		return err_in(win_peer_error(win, closing.rank), "oriel_win_complete");
	return closing.code ? closing.code : win_sticky_held(win, "oriel_win_complete");
}

int complete_any(struct oriel_win *win)
{
	int rc = win_enter_pushing(win, "oriel_win_complete", false);

	if (rc)
		return rc;
	rc = complete_held(win, 0);
	win_leave(win);
	return rc;
}
