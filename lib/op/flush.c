// SPDX-License-Identifier: BSD-2-Clause
/* flush.c - waiting for operations of an epoch that stays open */
#include "op/flush.h"

#include "base/err.h"
#include "base/order.h"
#include "job/job.h"
#include "op/enter.h"
#include "op/flush_all.h"
#include "op/issue.h"
#include "op/target.h"
#include "sync/wait.h"
#include "win/blocked.h"
#include "win/link.h"
#include "win/origin.h"
#include "win/win.h"

/*
 * Polls for as long as a card's small operation takes; not for messages, which their target does
 * not apply while it is in here itself.
 */
static bool look_again(const struct oriel_win *win, struct link *link, struct watermark upto)
{
	if (upto.am_number > 0)
		return false;
	for (uint32_t looks = job_oversubscribed(win->job) ? 1 : WIN_LOOKS; looks > 0; looks--) {
		if (watermark_complete(link, &upto))
			return true;
	}
	return false;
}

static inline bool flush_issued(const struct oriel_win *win, struct link *link, bool local, bool first)
{
	struct watermark upto = watermark_to_flush(link, local);
	bool done = watermark_complete(link, &upto) || (first && look_again(win, link, upto));

	if (done) {
		watermark_forget(link, local);
		link->marks |= LINK_FLUSHED;
	}
	return done;
}

int flush_link(struct oriel_win *win, struct link *link, bool local, bool first)
{
	int step = issue_granted(win, link);

	if (step == ORIEL_ERR_PEER)
		link->marks &= (uint16_t)~LINK_IN_FLIGHT;
	return step > 0 ? flush_issued(win, link, local, first) : step;
}

struct flushing {
	struct oriel_win *win;
	struct link *only;      /* NULL: all in the epoch */
	const struct link *but; /* without this one, or NULL */
	bool local;
	bool all;
	int code;
	int failed; /* the first */
};

static void flush_one(struct flushing *f, struct link *link, bool first)
{
	int step = flush_link(f->win, link, f->local, first);

	f->all &= step != 0;
	if (step < 0 && f->code == 0) {
		f->code = step;
		f->failed = link->rank;
	}
}

/* Carries all links one step further. Returns whether all are done. The caller holds win->lock. */
static bool flush_step(struct flushing *f, bool first)
{
	struct link *link;
	uint32_t next = 0;

	f->all = true;
	if (f->only) {
		flush_one(f, f->only, first);
		return f->all;
	}
	while ((link = flush_busy(f->win, f->but, &next)))
		flush_one(f, link, first);
	return f->all;
}

static int flush_turn(void *arg)
{
	struct flushing *f = arg;
	bool all;

	owned_lock_take(&f->win->lock);
	all = flush_step(f, false);
	owned_lock_give(&f->win->lock);
	return all;
}

static void flush_watch_link(const struct flushing *f, struct link *link, struct wait *wait)
{
	if (flush_link(f->win, link, f->local, false) != 0)
		return;
	blocked_on_target(f->win, link, wait);
	link_watch(f->win, link, wait);
}

/* Watches the links that are not done. Returns whether to report a failed link now. */
static int flush_watch(void *arg, struct wait *wait)
{
	struct flushing *f = arg;
	struct oriel_win *win = f->win;
	struct link *link;
	uint32_t next = 0;

	owned_lock_take(&win->lock);
	if (f->only)
		flush_watch_link(f, f->only, wait);
	while (!f->only && (link = flush_busy(win, f->but, &next)))
		flush_watch_link(f, link, wait);
	owned_lock_give(&win->lock);
	return f->code && wait_lingered(wait);
}

/* Waits for what the first looks have left. Gives up win->lock meanwhile. */
static int flush_wait(struct flushing *f, const char *call)
{
	static const struct waiter waiter = { flush_turn, flush_watch };
	struct wait wait;
	int rc;

	wait_begin(&wait, f->win->job, call, f->win->label);
	owned_lock_give(&f->win->lock);
	rc = wait_until(&wait, &waiter, f);
	owned_lock_take(&f->win->lock);
	return rc;
}

int flush_failed(const struct oriel_win *win, int rank, int code, const char *call)
{
	return code == ORIEL_ERR_PEER ? err_in(win_peer_error(win, rank), call) : code;
}

int flush_rest(struct oriel_win *win, struct link *only, const struct link *but, bool local, const char *call)
{
	struct flushing f = { .win = win, .only = only, .but = but, .local = local };
	int rc = 0;

	if (only || (!flush_step(&f, false) && !flush_step(&f, true))) /* posts to all before it polls one again */
		rc = flush_wait(&f, call);
	if (f.all && !but)
		flush_end(win, only, local);
	return rc ? rc : flush_failed(win, f.failed, f.code, call);
}

static int flush_check(struct oriel_win *win, int rank, const char *call)
{
	struct link *link;

	if (rank == ORIEL_RANK_ALL || ((win->sync & SYNC_LOCK_ALL) && rank >= 0 && rank < win->group->size))
		return epoch_check(win, CALL_OPERATION, call); /* in lock_all a flush makes no member a target */
	return op_link(win, rank, &link, call);
}

int flush_held(struct oriel_win *win, int rank, bool local)
{
	const char *call = flush_call(local);
	struct link *only = rank == ORIEL_RANK_ALL ? NULL : link_find(win, rank);
	int rc = flush_check(win, rank, call);

	if (rc == 0 && (rank == ORIEL_RANK_ALL || only)) /* else nothing was issued to the member */
		rc = flush_run(win, only, NULL, local, call);
	return flush_report(win, rc, call);
}

int flush_any(struct oriel_win *win, int rank, bool local)
{
	int rc = win_enter(win, flush_call(local));

	if (rc)
		return rc;
	rc = flush_held(win, rank, local);
	win_leave(win);
	return rc;
}
