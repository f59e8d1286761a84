// SPDX-License-Identifier: BSD-2-Clause
/* flush.c - waiting for operations of an epoch that stays open */
#include "op/flush.h"

#include "base/err.h"
#include "base/order.h"
#include "job/job.h"
#include "job/wait.h"
#include "op/enter.h"
#include "op/issue.h"
#include "op/target.h"
#include "win/link.h"
#include "win/origin.h"
#include "win/win.h"

/* One step of one link: whether its operations are complete. An error is the peer's. */
static int flush_step(struct oriel_win *win, struct link *link, bool local)
{
	struct wire *wire = &link->peer->wire;
	int rc = issue_granted(win, link);

	if (rc <= 0)
		return rc;
	if (!(link->marks & LINK_TOUCHED) || (local && !(link->marks & (LINK_GOT | LINK_WAITING)))) {
		wire_ring(wire);
		return 1;
	}
	if (!local)
		link->last_number = wire_placing(wire, link->last_number);
	return wire_drive(wire, link->last_number);
}

struct flushing {
	struct oriel_win *win;
	int rank; /* or ORIEL_RANK_ALL */
	bool local;
	bool all; /* every link is done */
	int code;
	int failed; /* rank of the first link that failed */
};

static bool flush_concerns(const struct flushing *f, const struct link *link)
{
	if (!link || (f->rank != ORIEL_RANK_ALL && link->rank != f->rank))
		return false;
	return f->win->sync & SYNC_ACCESS ? link->marks & LINK_ACCESS : link->marks & LINK_TOUCHED;
}

/* Whether nothing is left to do for a later flush or fence: complete is not always placed (device.h). */
static bool is_flushed(const struct flushing *f, const struct link *link)
{
	return !f->local || !link->peer->device->read_behind;
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
	if (step == ORIEL_ERR_PEER || (is_flushed(f, link) && wire_done(&link->peer->wire, link->last_number)))
		link->marks &= (uint16_t) ~(LINK_TOUCHED | LINK_GOT | LINK_WAITING);
}

/* The links are done. The caller holds the lock. */
static void flush_end(struct flushing *f)
{
	if (!f->local && f->rank == ORIEL_RANK_ALL)
		release_epoch_mrs(f->win);
	f->win->epoch_mrs.reusable = f->win->epoch_mrs.count; /* the memory is the caller's again, and may be mapped anew */
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
		flush_end(f);
	owned_lock_give(&win->lock);
	return f->all;
}

/* The links that are not done; and whether it is time to tell of one that failed. */
static int flush_watch(void *arg, struct wait *wait)
{
	struct flushing *f = arg;
	struct oriel_win *win = f->win;

	owned_lock_take(&win->lock);
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		if (flush_concerns(f, win->links.table[i]) && flush_step(win, win->links.table[i], f->local) == 0)
			link_watch(win, win->links.table[i], wait);
	}
	owned_lock_give(&win->lock);
	return f->code && wait_lingered(wait);
}

int flush_run(struct oriel_win *win, int rank, bool local, const char *call)
{
	static const struct waiter waiter = { flush_turn, flush_watch };
	struct flushing f = { .win = win, .rank = rank, .local = local };
	struct wait wait;
	int rc;

	wait_begin(&wait, win->job, call, win);
	rc = wait_until(&wait, &waiter, &f);
	if (rc)
		return rc;
	return f.code == ORIEL_ERR_PEER ? err_in(win_peer_error(win, f.failed), call) : f.code;
}

/* An access epoch must be open and name the target. */
static int flush_check(struct oriel_win *win, int rank, const char *call)
{
	struct link *link;

	if (rank != ORIEL_RANK_ALL)
		return op_link(win, rank, &link, call);
	return epoch_check(win, CALL_OPERATION, call);
}

static int flush(struct oriel_win *win, int rank, bool local, const char *call)
{
	int rc = win_enter(win, call);

	if (rc)
		return rc;
	rc = flush_check(win, rank, call);
	win_leave(win);
	return rc ? rc : flush_run(win, rank, local, call);
}

int oriel_win_flush(oriel_win *win, int target_rank)
{
	return flush(win, target_rank, false, "oriel_win_flush");
}

int oriel_win_flush_local(oriel_win *win, int target_rank)
{
	return flush(win, target_rank, true, "oriel_win_flush_local");
}
