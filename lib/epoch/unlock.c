// SPDX-License-Identifier: BSD-2-Clause
/*
 * unlock.c - the end of lock epochs
 *
 * DESIGN NOTES
 *
 * Each link goes its way. Deferred operations go out. The release follows the puts in one list of
 * requests, behind a fence if there are gets or atomics, and its completion says that all is in
 * place (L4). If the lock's words are mapped, the release is a store, which stays behind nothing:
 * the operations are waited for first.
 *
 * A lost target closes its link with ORIEL_ERR_PEER, and the rest go on.
 */
#include "epoch/general.h"

#include "base/order.h"
#include "sync/wait.h"
#include "op/flush_all.h"
#include "op/issue.h"
#include "win/blocked.h"
#include "win/link.h"
#include "win/lock_mapped.h"
#include "win/lock_words.h"
#include "win/origin.h"
#include "win/win.h"

/*
 * Returns whether the device keeps the release behind the operations. Active messages are applied
 * when the target gets to it, not in the order of requests.
 */
static bool release_stays_behind(const struct oriel_win *win, const struct link *link)
{
	return !(link->marks & LINK_NOCHECK) && !lock_is_mapped(win, link) && link->peer->wire.flag_mode == FLAG_WRITE &&
	       !link_am_number(link);
}

/* Carries one link one step further. Returns 1 when it is done, 0, or the error that ends it. */
static int unlock_step(struct oriel_win *win, struct link *link)
{
	int rc = issue_granted(win, link);

	if (rc <= 0)
		return rc;
	if (!(link->marks & LINK_FLAGGED)) {
		if (!release_stays_behind(win, link)) {
			if (!link_complete(link))
				return 0;
		} else if (link->marks & LINK_TOUCHED) {
			wire_fence(&link->peer->wire); /* does nothing without gets and atomics */
		}
		rc = link->marks & LINK_NOCHECK ? 0 : lock_release(win, link);
		if (rc)
			return rc;
		link->marks |= LINK_FLAGGED;
	}
	return link_complete(link);
}

static void end_link(struct oriel_win *win, struct link *link)
{
	issue_drop_deferred(win, link);
	link->marks &= (uint16_t)~LOCK_MARKS;
}

/*
 * Releases the lock by a store, if its words are mapped and nothing has to be waited for. Returns
 * whether it has. An unlock_all takes 240 instructions so, and 518 by unlock_step.
 */
static bool release_at_once(const struct oriel_win *win, struct link *link)
{
	struct lock *lock = link_lost(link) ? NULL : lock_held(win, link);

	if (!lock)
		return false;
	lock_release_mapped(lock);
	link->marks &= (uint16_t)~LOCK_MARKS;
	return true;
}

static void unlock_link(struct unlocking *unlocking, struct link *link)
{
	int step = unlock_step(unlocking->win, link);

	if (step == 0 || step == ORIEL_ERR_MEMORY) {
		unlocking->all = false;
		unlocking->code = step ? step : unlocking->code;
		return;
	}
	if (step < 0 && unlocking->code == 0) {
		unlocking->code = step;
		unlocking->rank = link->rank;
	}
	if (step == ORIEL_ERR_PEER)
		lock_release_lost(unlocking->win, link);
	if (step > 0 || step == ORIEL_ERR_PEER)
		end_link(unlocking->win, link);
	else
		unlocking->all = false; /* one deferred operation failed: the rest goes on */
}

static void unlock_links(struct unlocking *unlocking)
{
	const struct links *links = &unlocking->win->links;

	unlocking->all = true;
	if (unlocking->only) {
		unlock_link(unlocking, unlocking->only);
		return;
	}
	for (uint32_t i = 0; i < links->capacity; i++) {
		if (links->table[i] && (links->table[i]->marks & LINK_LOCK) &&
		    !release_at_once(unlocking->win, links->table[i]))
			unlock_link(unlocking, links->table[i]);
	}
}

static int unlock_turn(void *arg)
{
	struct unlocking *unlocking = arg;

	owned_lock_take(&unlocking->win->lock);
	if (!unlocking->all)
		unlock_links(unlocking);
	owned_lock_give(&unlocking->win->lock);
	return unlocking->code == ORIEL_ERR_MEMORY ? ORIEL_ERR_MEMORY : unlocking->all;
}

static int unlock_watch(void *arg, struct wait *wait)
{
	struct unlocking *unlocking = arg;
	struct oriel_win *win = unlocking->win;

	owned_lock_take(&win->lock);
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		struct link *link = win->links.table[i];

		if (!link || !(link->marks & LINK_LOCK) || (unlocking->only && link != unlocking->only))
			continue;
		blocked_on_target(win, link, wait);
		link_watch(win, link, wait);
	}
	owned_lock_give(&win->lock);
	return 0;
}

static int unlock_wait(struct unlocking *unlocking)
{
	static const struct waiter waiter = { unlock_turn, unlock_watch };
	struct wait wait;
	int rc;

	wait_begin(&wait, unlocking->win->job, unlocking->call, unlocking->win->label);
	owned_lock_give(&unlocking->win->lock);
	rc = wait_until(&wait, &waiter, unlocking);
	owned_lock_take(&unlocking->win->lock);
	return rc;
}

int unlock_run(struct unlocking *unlocking)
{
	int rc = 0;

	unlock_links(unlocking);
	if (unlocking->code == ORIEL_ERR_MEMORY)
		return ORIEL_ERR_MEMORY;
	if (!unlocking->all)
		rc = unlock_wait(unlocking);
	return rc ? rc : unlocking->code;
}
