// SPDX-License-Identifier: BSD-2-Clause
/* target.c - see target.h. */
#include "op/target.h"

#include "base/err.h"
#include "base/order.h"
#include "job/group.h"
#include "job/job.h"
#include "job/wait.h"
#include "op/issue.h"
#include "win/remote_regions.h"
#include "win/link.h"
#include "win/lock_mapped.h"
#include "win/win.h"

/* Checking. The caller holds the lock. */

int no_epoch(struct oriel_win *win, int rank, const char *call)
{
	if (!epoch_allows(win, CALL_OPERATION))
		return err_set(ORIEL_ERR_SYNC, "%s: %s: rank %d: %s", call, win->label, rank,
		               epoch_why_not(win, CALL_OPERATION));
	return err_set(ORIEL_ERR_SYNC, "%s: %s: the access epoch does not name rank %d", call, win->label, rank);
}

/* In lock_all every member is a target; the first operation makes it one. */
static int lock_all_link(struct oriel_win *win, int rank, struct link **link)
{
	int rc = link_get(win, rank, link);

	if (rc == 0 && !((*link)->marks & LINK_ACCESS))
		link_enter_lock_all(win, *link);
	return rc;
}

bool op_enter_lock_all(struct oriel_win *win, struct link *link)
{
	if ((win->sync & (SYNC_LOCK_ALL | SYNC_NO_OPERATION)) != SYNC_LOCK_ALL || link->marks & LINK_ACCESS)
		return false;
	return lock_enter_all_mapped(win, link);
}

static int check_target(struct oriel_win *win, int rank, const char *call)
{
	if (rank < 0 || rank >= win->group->size)
		return err_set(ORIEL_ERR_RANK, "%s: %s: target rank %d, its group has ranks 0 to %d", call, win->label, rank,
		               win->group->size - 1);
	return epoch_allows(win, CALL_OPERATION) ? 0 : no_epoch(win, rank, call);
}

/* The link to a target that the open epoch names. */
int op_link(struct oriel_win *win, int rank, struct link **link, const char *call)
{
	int rc = check_target(win, rank, call);

	if (rc)
		return rc;
	if (win->sync & SYNC_LOCK_ALL)
		return lock_all_link(win, rank, link);
	if (win->sync & SYNC_NAMING) {
		*link = link_find(win, rank);
		if (*link && (*link)->marks & LINK_FLAGGED)
			return err_set(ORIEL_ERR_SYNC,
			               "%s: %s: rank %d has been told by an oriel_win_complete or oriel_win_unlock that timed "
			               "out that the access epoch is over",
			               call, win->label, rank);
		return *link && ((*link)->marks & LINK_ACCESS) ? 0 : no_epoch(win, rank, call);
	}
	return link_get(win, rank, link);
}

/* The target's description must be known for the range check: wait for it, bounded (D4). */
static int wait_described(struct oriel_win *win, struct link *link, const char *call)
{
	struct link_wait waiting = { win, link };
	struct wait wait;
	int rc = link_prefetch(win, link);

	if (rc)
		return rc;
	wait_begin(&wait, win->job, call, win->label);
	owned_lock_give(&win->lock);
	rc = wait_until(&wait, &link_described, &waiting);
	owned_lock_take(&win->lock);
	return rc;
}

/*
 * Epoch, rank, and unless there is nothing to move, a described and living target. In lock_all nothing
 * to move makes no member a target: there is nobody to wait for at its end.
 */
int op_begin(struct oriel_win *win, int rank, bool empty, struct link **link, const char *call)
{
	int rc;

	if (empty && (win->sync & SYNC_LOCK_ALL))
		return check_target(win, rank, call);
	rc = op_link(win, rank, link, call);
	if (rc || empty)
		return rc;
	if (link_state(*link) != LINK_READY) {
		rc = wait_described(win, *link, call);
		if (rc == 0)
			rc = op_link(win, rank, link, call); /* the lock was given up: the epoch may have been closed */
		if (rc)
			return rc;
	}
	if (link_lost(*link))
		return win_peer_error(win, rank);
	if ((*link)->mapping == MAPPING_UNASKED)
		link_map(*link);
	return 0;
}

/* The target address of size_bytes at disp. */
int op_range(struct oriel_win *win, struct link *link, size_t disp, size_t size_bytes, uint64_t *addr, const char *call)
{
	uint64_t offset;

	if (!in_range(link, disp, size_bytes, &offset))
		return err_set(ORIEL_ERR_RANGE,
		               "%s: %s: %zu bytes at displacement %zu (unit %u bytes) of rank %d, whose window has %llu bytes",
		               call, win->label, size_bytes, disp, link->disp_unit_bytes, link->rank,
		               (unsigned long long)link->size_bytes);
	*addr = link->base + offset;
	return link_remote_regions(link) ? remote_regions_find(win, link, *addr, size_bytes) : 0;
}

int op_access(const struct oriel_win *win, const struct link *link, enum op_kind kind, const char *call)
{
	if (kind == OP_GET || !link->read_only)
		return 0;
	return err_set(ORIEL_ERR_ACCESS, "%s: %s: rank %d may only read its own memory, so it cannot be put to", call,
	               win->label, link->rank);
}
