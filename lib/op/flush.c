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
	int rc = 0;

	if (link_lost(link))
		return link_let_go(link);
	if (link->marks & LINK_ACCESS) {
		if (link_state(link) != LINK_READY || !link_grant(win, link)) {
			wait_serve(win->job, link->peer);
			return 0;
		}
		rc = issue_held(win, link);
	}
	if (rc)
		return rc;
	if (!(link->marks & LINK_TOUCHED) || (local && !(link->marks & (LINK_GOT | LINK_WAITING)))) {
		wire_ring(wire);
		return 1;
	}
	return wire_drive(wire, link->last_number);
}

struct flushing {
	int rank; /* or ORIEL_RANK_ALL */
	bool local;
	bool watch; /* this turn looks for the dead */
	bool all;   /* every link is done */
	int code;
	int failed; /* rank of the first link that failed */
};

static bool flush_concerns(const struct oriel_win *win, const struct link *link, const struct flushing *f)
{
	if (!link || (f->rank != ORIEL_RANK_ALL && link->rank != f->rank))
		return false;
	return win->sync & SYNC_ACCESS ? link->marks & LINK_ACCESS : link->marks & LINK_TOUCHED;
}

static void flush_links(struct oriel_win *win, struct flushing *f, struct wait *wait)
{
	f->all = true;
	for (uint32_t i = 0; i < win->link_capacity; i++) {
		struct link *link = win->links[i];
		int step;

		if (!flush_concerns(win, link, f))
			continue;
		step = flush_step(win, link, f->local);
		if (step == 0) {
			f->all = false;
			if (f->watch)
				link_watch(win, link, wait);
			continue;
		}
		if (step < 0 && f->code == 0) {
			f->code = step;
			f->failed = link->rank;
		}
		if (step == ORIEL_ERR_PEER || wire_done(&link->peer->wire, link->last_number))
			link->marks &= (uint8_t) ~(LINK_TOUCHED | LINK_GOT | LINK_WAITING);
	}
	if (f->watch)
		wait_looked(wait);
	f->watch = false;
}

int flush_run(struct oriel_win *win, int rank, bool local, const char *call)
{
	struct flushing f = { .rank = rank, .local = local };
	struct wait wait;

	wait_begin(&wait, win->job, call, win);
	for (;;) {
		int rc;

		owned_lock_take(&win->lock);
		flush_links(win, &f, &wait);
		if (f.all && !local && rank == ORIEL_RANK_ALL)
			release_epoch_mrs(win);
		if (f.all)
			win->epoch_mrs_reusable =
				win->epoch_mr_count; /* the memory is the caller's again, and may be mapped anew */
		owned_lock_give(&win->lock);
		if (f.all)
			break;
		rc = wait_pause(&wait);
		if (rc < 0)
			return rc;
		f.watch = rc == WAIT_LOOK;
		if (f.watch && f.code && wait_lingered(&wait))
			break;
	}
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
