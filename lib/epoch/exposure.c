// SPDX-License-Identifier: BSD-2-Clause
/*
 * exposure.c - post, wait and test: the target's side
 *
 * access.c describes the words. Origins are checked in the order of the group; `next` is the first
 * that has not completed. No origin can post again before wait or a true test, so the words before
 * it stay.
 */
#include <stdlib.h>

#include "base/err.h"
#include "epoch/general.h"
#include "job/group.h"
#include "job/job.h"
#include "win/blocked.h"
#include "win/link.h"
#include "base/order.h"
#include "base/util.h"
#include "sync/wait.h"
#include "op/enter.h"
#include "win/epoch.h"
#include "win/win.h"

#define POST_ASSERTIONS (ORIEL_MODE_NOCHECK | ORIEL_MODE_NOSTORE | ORIEL_MODE_NOPUT)
#define PROBE_NS (NS_PER_SECOND / 2) /* oriel_win_test pings awaited peers this often */

static int post_check(struct oriel_win *win, const struct oriel_group *group, int assertions)
{
	int rc;

	if (!handle_valid(HANDLE_GROUP, group) || group->job != win->job)
		return err_set(ORIEL_ERR_HANDLE, "oriel_win_post: %s: the group handle %p is null, freed, or of another job",
		               win->label, (const void *)group);
	if (assertions & ~POST_ASSERTIONS)
		return err_set(ORIEL_ERR_ARG, "oriel_win_post: %s: assertions 0x%x, legal are bits of 0x%x", win->label,
		               (unsigned)assertions, POST_ASSERTIONS);
	rc = epoch_check(win, CALL_POST, "oriel_win_post");
	return rc || group->size == 0 ? rc : epoch_check(win, CALL_FOR_SOMEBODY, "oriel_win_post");
}

/*
 * Returns 0, or an error if an origin is still inside an epoch that ended here with the death of
 * another. The posted word may go on only after the origin has completed.
 */
static int still_inside(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->exposure.count; i++) {
		const struct link *link = win->exposure.links[i];

		if (flag_load(&link_flags(win, link)->completed) == link->completed_expected)
			continue;         /* pairs with send_completed */
		if (!link_lost(link)) /* wait reports a lost one */
			return err_set(ORIEL_ERR_SYNC,
			               "oriel_win_post: %s: rank %d has not completed the epoch that ended with "
			               "another rank's death; call again later",
			               win->label, link->rank);
	}
	return 0;
}

/* A flag that cannot be sent belongs to a dead origin, which wait reports. */
static inline int post_to(struct oriel_win *win, struct link *link)
{
	struct flag_pair *there = link_flags_there(link);

	if (there) {
		post_by_store(link, there);
		return 0;
	}
	link->completed_expected++;
	link->posted_sent++;
	return link_post(win, link);
}

static int post_links(struct oriel_win *win, bool nocheck)
{
	int rc = 0;

	for (uint32_t i = 0; i < win->exposure.count; i++) {
		struct link *link = win->exposure.links[i];

		if (nocheck)
			link->completed_expected++;
		else if (post_to(win, link) == ORIEL_ERR_MEMORY)
			rc = ORIEL_ERR_MEMORY;
	}
	if (win->exposure.count > 0)
		exposure_begun(win);
	else
		win->sync |= SYNC_EXPOSURE_NOBODY;
	return rc;
}

/* Checks the arguments, and makes the links to the origins. */
static int post_prepare(struct oriel_win *win, const struct oriel_group *group, int assertions)
{
	int rc = post_check(win, group, assertions);

	return rc ? rc : epoch_open(win, &win->exposure, group, "oriel_win_post");
}

int post_held(struct oriel_win *win, const struct oriel_group *group, int assertions)
{
	int rc = assertions == 0 && may_post(win, group) ? 0 : post_prepare(win, group, assertions);

	if (rc == 0)
		rc = still_inside(win);
	return rc ? rc : post_links(win, assertions & ORIEL_MODE_NOCHECK);
}

int post_any(struct oriel_win *win, const struct oriel_group *group, int assertions)
{
	int rc = win_enter(win, "oriel_win_post");

	if (rc)
		return rc;
	rc = post_held(win, group, assertions);
	win_leave(win);
	return rc;
}

/* Takes the right to close the epoch. The caller holds win->lock. */
static int exposure_begin(struct oriel_win *win, const char *call)
{
	int rc = epoch_check(win, CALL_WAIT, call);

	if (rc == 0)
		win->sync |= SYNC_WAITING;
	return rc;
}

/*
 * Returns the first origin that was lost before its complete, or ORIEL_RANK_NONE, in a wait's
 * periodic check.
 */
static int watch_origins(struct oriel_win *win, struct wait *wait)
{
	int dead = ORIEL_RANK_NONE;

	for (uint32_t i = win->exposure.next; i < win->exposure.count; i++) {
		struct link *link = win->exposure.links[i];

		if (flag_load(&link_flags(win, link)->completed) == link->completed_expected)
			continue; /* pairs with send_completed */
		if (!link_watch(win, link, wait) && dead == ORIEL_RANK_NONE &&
		    flag_load(&link_flags(win, link)->completed) != link->completed_expected)
			dead = link->rank;
	}
	return dead;
}

static int exposure_turn(void *arg)
{
	struct oriel_win *win = arg;

	if (exposure_step(win))
		return 1;
	wait_serve(win->job, win->exposure.links[win->exposure.next]->peer);
	return 0;
}

static int exposure_watch(void *arg, struct wait *wait)
{
	struct oriel_win *win = arg;
	int dead = watch_origins(win, wait);
	const struct link *next = win->exposure.links[win->exposure.next];

	blocked_by(win, wait, CAUSE_COMPLETE, next->peer, next->completed_expected);
	return dead == ORIEL_RANK_NONE ? 0 : err_in(win_peer_error(win, dead), "oriel_win_wait");
}

/* Gives up win->lock during the wait. */
static int wait_all(struct oriel_win *win)
{
	static const struct waiter waiter = { exposure_turn, exposure_watch };
	struct wait wait;
	int rc;

	wait_begin(&wait, win->job, "oriel_win_wait", win->label);
	owned_lock_give(&win->lock);
	rc = wait_until(&wait, &waiter, win);
	owned_lock_take(&win->lock);
	return rc;
}

/* Polls a few times: cheaper than a wait, which polls the device, too. */
static bool exposure_poll(struct oriel_win *win)
{
	uint32_t looks = win_looks(win);

	while (!exposure_step(win)) {
		if (looks-- == 0)
			return false;
	}
	return true;
}

int wait_held(struct oriel_win *win)
{
	int rc = exposure_begin(win, "oriel_win_wait");

	if (rc)
		return rc;
	if (!exposure_poll(win))
		rc = wait_all(win);
	exposure_end(win, !wait_can_repeat(rc));
	return rc ? rc : win_sticky_held(win, "oriel_win_wait");
}

int wait_any(struct oriel_win *win)
{
	int rc = win_enter_closing(win, "oriel_win_wait");

	if (rc)
		return rc;
	rc = wait_held(win);
	win_leave(win);
	return rc;
}

/*
 * Returns the first dead origin, or ORIEL_RANK_NONE. A program may do nothing but test, so this
 * pings.
 */
static int probe(struct oriel_win *win)
{
	uint64_t now = now_ns();
	struct wait wait;
	int dead;

	if (win->probe_ns == 0)
		win->probe_ns = now;
	wait_begin(&wait, win->job, "oriel_win_test", win->label);
	if (now - win->probe_ns < PROBE_NS && wait.deaths == 0)
		return ORIEL_RANK_NONE;
	wait.check = now - win->probe_ns >= PROBE_NS;
	win->probe_ns = now;
	dead = watch_origins(win, &wait);
	wait_looked(&wait);
	return dead;
}

int oriel_win_test(oriel_win *win, int *flag)
{
	int dead, rc;
	bool done;

	rc = win_enter_closing(win, "oriel_win_test");
	if (rc)
		return rc;
	rc = flag ? exposure_begin(win, "oriel_win_test") : err_set(ORIEL_ERR_ARG, "oriel_win_test: flag is NULL");
	win_leave(win);
	if (rc)
		return rc;
	done = exposure_step(win);
	if (!done)
		wire_poll(&win->exposure.links[win->exposure.next]->peer->wire);
	dead = done ? ORIEL_RANK_NONE : probe(win);
	owned_lock_take(&win->lock);
	exposure_end(win, done || dead != ORIEL_RANK_NONE);
	win_leave(win);
	if (dead != ORIEL_RANK_NONE)
		return err_in(win_peer_error(win, dead), "oriel_win_test");
	rc = done ? win_tell_sticky(win, "oriel_win_test") : 0;
	if (rc == 0)
		*flag = done;
	return rc;
}
