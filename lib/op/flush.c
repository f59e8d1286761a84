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

/* Carries one link one step further. Returns 1 when its operations are complete, 0, or an error. */
static int flush_step(struct oriel_win *win, struct link *link, bool local)
{
	struct watermark upto;
	int rc = issue_granted(win, link);

	if (rc <= 0)
		return rc;
	upto = watermark_to_flush(link, local);
	return watermark_complete(link, &upto);
}

struct flushing {
	struct oriel_win *win;
	int rank; /* or ORIEL_RANK_ALL */
	bool local;
	bool all;
	int code;
	int failed; /* the first */
};

static bool flush_concerns(const struct flushing *f, const struct link *link)
{
	if (!link || (f->rank != ORIEL_RANK_ALL && link->rank != f->rank))
		return false;
	return is_in_epoch(f->win, link);
}

/*
 * Returns whether a later flush or fence has nothing left to do. Complete operations are not always
 * placed (device.h).
 */
static inline bool is_flushed(const struct link *link, bool local)
{
	return (!local || !link->peer->device->read_behind) && !link_am_number(link) &&
	       wire_done(&link->peer->wire, link->last_number);
}

static inline void flushed(struct link *link)
{
	link->marks = (uint16_t)((link->marks & ~(LINK_TOUCHED | LINK_GOT | LINK_WAITING)) | LINK_FLUSHED);
}

static void flush_link(struct flushing *f, struct link *link)
{
	int step = flush_step(f->win, link, f->local);

	if (step == 0) {
		f->all = false;
		return;
	}
	if (step < 0 && f->code == 0) {
		f->code = step;
		f->failed = link->rank;
	}
	if (step == ORIEL_ERR_PEER || is_flushed(link, f->local))
		flushed(link);
}

/* Ends a flush whose links are done. The caller holds win->lock. */
static void flush_end(struct oriel_win *win, int rank, bool local)
{
	if (!local && rank == ORIEL_RANK_ALL && win->epoch_mrs.count)
		release_epoch_mrs(win);
	win->epoch_mrs.reusable = win->epoch_mrs.count; /* the memory is the caller's again */
}

static int flush_turn(void *arg)
{
	struct flushing *f = arg;
	struct oriel_win *win = f->win;

	owned_lock_take(&win->lock);
	f->all = true;
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		if (flush_concerns(f, win->links.table[i]))
			flush_link(f, win->links.table[i]);
	}
	if (f->all)
		flush_end(win, f->rank, f->local);
	owned_lock_give(&win->lock);
	return f->all;
}

/* Watches the links that are not done. Returns whether to report a failed link now. */
static int flush_watch(void *arg, struct wait *wait)
{
	struct flushing *f = arg;
	struct oriel_win *win = f->win;

	owned_lock_take(&win->lock);
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		struct link *link = win->links.table[i];

		if (!flush_concerns(f, link) || flush_step(win, link, f->local) != 0)
			continue;
		blocked_on_target(win, link, wait);
		link_watch(win, link, wait);
	}
	owned_lock_give(&win->lock);
	return f->code && wait_lingered(wait);
}

static int flush_check(struct oriel_win *win, int rank, const char *call)
{
	struct link *link;

	if (rank == ORIEL_RANK_ALL || ((win->sync & SYNC_LOCK_ALL) && rank >= 0 && rank < win->group->size))
		return epoch_check(win, CALL_OPERATION, call); /* in lock_all a flush makes no member a target */
	return op_link(win, rank, &link, call);
}

/*
 * Returns the first member that has something to wait for, or NULL; others may follow from place
 * *next of the table on.
 */
static inline struct link *flush_first(const struct oriel_win *win, int rank, uint32_t *next)
{
	struct link *link;

	*next = 0;
	if (rank == ORIEL_RANK_ALL)
		return flush_busy(win, next);
	link = link_find(win, rank);
	return flush_idle(win, link) ? NULL : link;
}

/*
 * Returns whether the open epoch, in which operations are legal, names a member: flush_check
 * without texts.
 */
static inline bool is_named(const struct oriel_win *win, const struct link *link, int rank)
{
	if (!link)
		return (win->sync & SYNC_LOCK_ALL) && rank >= 0 && rank < win->group->size;
	if ((win->sync & SYNC_LOCK_ALL) || !(win->sync & SYNC_NAMING))
		return true;
	return (link->marks & (LINK_ACCESS | LINK_FLAGGED)) == LINK_ACCESS;
}

enum flush_state { FLUSHED, UNDER_WAY, TO_BE_WAITED_FOR };

static __attribute__((noinline)) bool look_again(struct link *link, struct watermark upto, uint32_t looks)
{
	while (looks-- > 0) {
		if (watermark_complete(link, &upto))
			return true;
	}
	return false;
}

/* Posts what is outstanding for a member, and polls it, up to `looks` times more. */
static inline __attribute__((always_inline)) enum flush_state flush_drive(struct link *link, bool local, uint32_t looks)
{
	struct watermark upto;

	if (!issue_is_granted(link))
		return TO_BE_WAITED_FOR;
	upto = watermark_to_flush(link, local);
	if (!watermark_complete(link, &upto) && !look_again(link, upto, looks))
		return UNDER_WAY;
	if (is_flushed(link, local))
		flushed(link);
	return FLUSHED;
}

/* Drives all members but one. Returns the worst state. */
static enum flush_state flush_drive_others(struct oriel_win *win, const struct link *but, bool local, uint32_t looks)
{
	enum flush_state worst = FLUSHED;
	struct link *link;
	uint32_t next = 0;

	while ((link = flush_busy(win, &next))) {
		enum flush_state state = link == but ? FLUSHED : flush_drive(link, local, looks);

		worst = state > worst ? state : worst;
	}
	return worst;
}

static inline uint32_t flush_looks(const struct oriel_win *win)
{
	return job_oversubscribed(win->job) ? 1 : WIN_LOOKS;
}

bool flush_others_soon(struct oriel_win *win, const struct link *but, bool local)
{
	enum flush_state state = flush_drive_others(win, but, local, 0); /* posts to all before it polls again */

	if (state == UNDER_WAY)
		state = flush_drive_others(win, but, local, flush_looks(win));
	return state == FLUSHED;
}

bool flush_link_soon(struct oriel_win *win, struct link *link, bool local)
{
	return flush_drive(link, local, flush_looks(win)) == FLUSHED;
}

/*
 * Flushes `link`, and if this is for all members, those from place `next` on. Returns whether all
 * is complete, without a wait.
 */
static inline __attribute__((always_inline)) bool flush_soon(struct oriel_win *win, struct link *link, uint32_t next,
                                                             int rank, bool local)
{
	bool one = rank != ORIEL_RANK_ALL || !flush_busy(win, &next);
	bool done = one ? flush_drive(link, local, flush_looks(win)) == FLUSHED : flush_others_soon(win, NULL, local);

	if (done)
		flush_end(win, rank, local);
	return done;
}

static bool flush_before_waiting(struct oriel_win *win, int rank, bool local)
{
	struct link *link;
	uint32_t next;
	bool done;

	owned_lock_take(&win->lock);
	link = flush_first(win, rank, &next);
	done = !link; /* another thread has flushed meanwhile */
	if (done)
		flush_end(win, rank, local);
	else
		done = flush_soon(win, link, next, rank, local);
	owned_lock_give(&win->lock);
	return done;
}

int flush_run(struct oriel_win *win, int rank, bool local, const char *call)
{
	static const struct waiter waiter = { flush_turn, flush_watch };
	struct flushing f = { .win = win, .rank = rank, .local = local };
	struct wait wait;
	int rc;

	if (flush_before_waiting(win, rank, local))
		return 0;
	wait_begin(&wait, win->job, call, win->label);
	rc = wait_until(&wait, &waiter, &f);
	if (rc)
		return rc;
	return f.code == ORIEL_ERR_PEER ? err_in(win_peer_error(win, f.failed), call) : f.code;
}

static int flush(struct oriel_win *win, int rank, bool local)
{
	const char *call = local ? "oriel_win_flush_local" : "oriel_win_flush";
	int rc = win_enter(win, call);
	uint32_t next;
	bool idle;

	if (rc)
		return rc;
	rc = flush_check(win, rank, call);
	idle = rc == 0 && !flush_first(win, rank, &next);
	if (idle)
		flush_end(win, rank, local);
	win_leave(win);
	if (rc == 0 && !idle)
		rc = flush_run(win, rank, local, call);
	return rc || !win_has_news(win) ? rc : win_tell_refused(win, call);
}

/* Flushes with something in flight. Releases win->lock. */
static int flush_entered(struct oriel_win *win, struct link *link, uint32_t next, int rank, bool local)
{
	bool done = flush_soon(win, link, next, rank, local);

	win_leave_at_once(win);
	return done && !win_has_news(win) ? 0 : flush(win, rank, local);
}

/* The fast path: nothing to wait for, and no function is called. */
static inline __attribute__((always_inline)) int flush_at_once(struct oriel_win *win, int rank, bool local)
{
	bool all = rank == ORIEL_RANK_ALL;
	struct link *link = NULL;
	uint32_t next = 0;

	if (!win_enter_at_once(win))
		return flush(win, rank, local);
	if (!epoch_allows(win, CALL_OPERATION) ||
	    !(all || (link_find_first(win, rank, &link) && is_named(win, link, rank)))) {
		win_leave_at_once(win);
		return flush(win, rank, local);
	}
	if (all)
		link = flush_busy(win, &next);
	if (all ? link != NULL : !flush_idle(win, link))
		return flush_entered(win, link, next, rank, local);
	flush_end(win, rank, local);
	win_leave_at_once(win);
	return 0;
}

int oriel_win_flush(oriel_win *win, int target_rank)
{
	return flush_at_once(win, target_rank, false);
}

int oriel_win_flush_local(oriel_win *win, int target_rank)
{
	return flush_at_once(win, target_rank, true);
}
