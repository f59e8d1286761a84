// SPDX-License-Identifier: BSD-2-Clause
/*
 * request.c - flushes that do not wait, and waiting for them
 *
 * DESIGN NOTES
 *
 * A request is the caller's. It holds the numbers up to which operations to a target are to be
 * complete (op/flush_all.h), or, for all targets, the flush of all that is to end (op/flush_all.h).
 * The library keeps nothing of it, so the program may copy it, drop it, and wait for it twice.
 * Closing the epoch completes the request (R5); complete and fence do so at the origin only.
 *
 * `window_serial` tells the window from a later one in the same memory.
 */
#include "base/err.h"
#include "base/util.h"
#include "job/group.h"
#include "job/job.h"
#include "op/enter.h"
#include "op/flush_all.h"
#include "op/target.h"
#include "sync/wait.h"
#include "win/blocked.h"
#include "win/link.h"
#include "win/win.h"

#define PROBE_NS (NS_PER_SECOND / 2) /* oriel_request_test pings awaited ranks this often */

/* oriel_request.scope */
enum request_scope {
	REQUEST_DONE, /* a call has reported it */
	REQUEST_LOCAL,
	REQUEST_BOTH,
};

/* Making a request. */

/*
 * Checks the epoch, and finds the link if there is one. In lock_all a request makes no member a
 * target.
 */
static int request_check(struct oriel_win *win, int rank, struct link **link, const char *call)
{
	bool all_locked = win->sync & SYNC_LOCK_ALL, is_member = rank >= 0 && rank < win->group->size;
	int rc = epoch_check(win, CALL_OPERATION, call);

	*link = NULL;
	if (rc)
		return rc;
	if (rank == ORIEL_RANK_ALL && !all_locked)
		return err_set(ORIEL_ERR_SYNC, "%s: %s: ORIEL_RANK_ALL needs an epoch of oriel_win_lock_all", call, win->label);
	if (rank == ORIEL_RANK_ALL)
		return 0;
	if (!all_locked || !is_member)
		return op_link(win, rank, link, call);
	*link = link_find(win, rank);
	return 0;
}

static int request_make(struct oriel_win *win, int rank, struct link *link, enum request_scope scope,
                        oriel_request *request)
{
	struct watermark upto = { 0 };
	bool local = scope == REQUEST_LOCAL;
	int rc = rank == ORIEL_RANK_ALL ? flush_all_of_now(win, local, &upto.number) : 0;

	if (rc)
		return rc;
	if (link)
		watermark_begin(win, link, local, &upto);
	*request = (oriel_request){ .win = win,
		                        .window_serial = win->handle.serial,
		                        .number = upto.number,
		                        .am_number = upto.am_number,
		                        .target_rank = rank,
		                        .scope = (int)scope };
	return 0;
}

static int iflush(struct oriel_win *win, int rank, enum request_scope scope, oriel_request *request, const char *call)
{
	struct link *link;
	int rc = win_enter(win, call);

	if (rc)
		return rc;
	if (!request)
		rc = err_set(ORIEL_ERR_ARG, "%s: %s: request is NULL", call, win->label);
	else
		rc = request_check(win, rank, &link, call);
	if (rc == 0)
		rc = request_make(win, rank, link, scope, request);
	win_leave(win);
	return rc ? err_in(rc, call) : 0;
}

int oriel_win_iflush(oriel_win *win, int target_rank, oriel_request *request)
{
	return iflush(win, target_rank, REQUEST_BOTH, request, "oriel_win_iflush");
}

int oriel_win_iflush_local(oriel_win *win, int target_rank, oriel_request *request)
{
	return iflush(win, target_rank, REQUEST_LOCAL, request, "oriel_win_iflush_local");
}

/* Completing a request. The caller of the steps holds win->lock. */

static int target_step(struct oriel_win *win, oriel_request *request)
{
	struct link *link = link_find(win, request->target_rank);
	struct watermark upto = { request->number, request->am_number };
	int rc;

	if (!link)
		return 1; /* nothing was ever issued to it */
	rc = watermark_step(win, link, request->scope == REQUEST_LOCAL, &upto);
	request->number = upto.number;
	request->am_number = upto.am_number;
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc;
}

/* Returns 1 when the request is complete, 0 when it is not, or an error. */
static int request_step(struct oriel_win *win, oriel_request *request)
{
	bool all = request->target_rank == ORIEL_RANK_ALL;
	int rc = all ? flush_all_step(win, request->number) : target_step(win, request), refused;

	if (rc == 1)
		request->scope = REQUEST_DONE;
	if (rc == 1 || rc == ORIEL_ERR_PEER)
		win->epoch_mrs.reusable = win->epoch_mrs.count; /* the memory is the caller's again */
	refused = rc == 1 ? deferred_error_report(&win->deferred_errors) : 0;
	return refused ? refused : rc;
}

/* Watches the awaited ranks, in a wait's periodic check. The caller holds win->lock. */
static int request_look(struct oriel_win *win, const oriel_request *request, struct wait *wait)
{
	struct link *link;

	if (request->target_rank == ORIEL_RANK_ALL)
		return flush_all_watch(win, wait);
	link = link_find(win, request->target_rank);
	if (link)
		blocked_on_target(win, link, wait);
	if (link)
		link_watch(win, link, wait); /* the next step finds that it is lost */
	return 0;
}

static int request_turn(void *arg)
{
	oriel_request *request = arg;
	struct oriel_win *win = request->win;
	int rc;

	owned_lock_take(&win->lock);
	rc = request_step(win, request);
	owned_lock_give(&win->lock);
	return rc;
}

static int request_watch(void *arg, struct wait *wait)
{
	const oriel_request *request = arg;
	struct oriel_win *win = request->win;
	int rc;

	owned_lock_take(&win->lock);
	rc = request_look(win, request, wait);
	owned_lock_give(&win->lock);
	return rc;
}

/* Checks the handle, and takes win->lock. */
static int request_enter(const oriel_request *request, const char *call)
{
	if (!request)
		return err_set(ORIEL_ERR_ARG, "%s: request is NULL", call);
	if (!handle_valid(HANDLE_WIN, request->win) || request->win->handle.serial != request->window_serial)
		return err_set(ORIEL_ERR_HANDLE, "%s: the window of the request has been freed, or there never was one", call);
	return win_enter_closing(request->win, call);
}

int oriel_request_wait(oriel_request *request)
{
	static const struct waiter waiter = { request_turn, request_watch };
	struct wait wait;
	int rc = request_enter(request, "oriel_request_wait");

	if (rc)
		return rc;
	rc = request->scope == REQUEST_DONE ? 1 : request_step(request->win, request);
	win_leave(request->win);
	if (rc == 0) {
		wait_begin(&wait, request->win->job, "oriel_request_wait", request->win->label);
		rc = wait_until(&wait, &waiter, request);
	}
	return rc < 0 ? err_in(rc, "oriel_request_wait") : 0;
}

/* Pings the awaited ranks, since a program may do nothing but test. The caller holds win->lock. */
static void probe(struct oriel_win *win, const oriel_request *request)
{
	uint64_t now = now_ns();
	struct wait wait;

	if (win->requests.probe_ns == 0)
		win->requests.probe_ns = now;
	if (now - win->requests.probe_ns < PROBE_NS)
		return;
	win->requests.probe_ns = now;
	wait_begin(&wait, win->job, "oriel_request_test", win->label);
	wait.check = true;
	request_look(win, request, &wait);
	wait_looked(&wait);
}

int oriel_request_test(oriel_request *request, int *flag)
{
	int rc;

	if (!flag)
		return err_set(ORIEL_ERR_ARG, "oriel_request_test: flag is NULL");
	rc = request_enter(request, "oriel_request_test");
	if (rc)
		return rc;
	rc = request->scope == REQUEST_DONE ? 1 : request_step(request->win, request);
	if (rc == 0)
		probe(request->win, request);
	win_leave(request->win);
	if (rc >= 0 || request->scope == REQUEST_DONE || rc == ORIEL_ERR_PEER)
		*flag = rc != 0;
	return rc < 0 ? err_in(rc, "oriel_request_test") : 0;
}
