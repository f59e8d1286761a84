// SPDX-License-Identifier: BSD-2-Clause
/* See target.h. */
#include "op/target.h"

#include <stdio.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/group.h"
#include "job/job.h"
#include "op/acc_route.h"
#include "op/issue.h"
#include "sync/wait.h"
#include "win/link.h"
#include "win/remote_regions.h"
#include "win/win.h"

/* Checks. The caller holds win->lock. */

int no_epoch(struct oriel_win *win, int rank, const char *call)
{
	char why[EPOCH_WHY_BYTES];

	if (!epoch_allows(win, CALL_OPERATION))
		return err_set(ORIEL_ERR_SYNC, "%s: %s: rank %d: %s", call, win->label, rank,
		               epoch_why_not(win, CALL_OPERATION, why));
	return err_set(ORIEL_ERR_SYNC, "%s: %s: the access epoch does not name rank %d", call, win->label, rank);
}

/* Makes the member a target under lock_all, by the first operation to it. */
static int lock_all_link(struct oriel_win *win, int rank, struct link **link)
{
	int rc = link_get(win, rank, link);

	if (rc == 0 && !((*link)->marks & LINK_ACCESS))
		link_enter_lock_all(win, *link);
	return rc;
}

static int check_target(struct oriel_win *win, int rank, const char *call)
{
	if (rank < 0 || rank >= win->group->size)
		return err_set(ORIEL_ERR_RANK, "%s: %s: target rank %d, its group has ranks 0 to %d", call, win->label, rank,
		               win->group->size - 1);
	return epoch_allows(win, CALL_OPERATION) ? 0 : no_epoch(win, rank, call);
}

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
			return err_set(
				ORIEL_ERR_SYNC,
				"%s: %s: an oriel_win_complete or oriel_win_unlock that timed out has ended the access epoch "
				"to rank %d; repeat that call",
				call, win->label, rank);
		return *link && ((*link)->marks & LINK_ACCESS) ? 0 : no_epoch(win, rank, call);
	}
	return link_get(win, rank, link);
}

/* Waits for the target's description, which the range check needs (D4). */
static int wait_described(struct oriel_win *win, struct link *link, const char *call)
{
	const struct tool *tool = see_tool;
	uint64_t begun_ns = tool ? now_ns() : 0;
	struct link_wait waiting = { win, link };
	struct wait wait;
	int rc = link_prefetch(win, link);

	if (rc)
		return rc;
	wait_begin(&wait, win->job, call, win->label);
	owned_lock_give(&win->lock);
	rc = wait_until(&wait, &link_described, &waiting);
	owned_lock_take(&win->lock);
	if (tool && tool->described)
		tool->described(link->peer->rank, begun_ns, now_ns());
	return rc;
}

/* In lock_all an empty operation makes no member a target: there is none to wait for at its end. */
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
			rc = op_link(win, rank, link, call); /* while the lock was given up, the epoch may have ended */
		if (rc)
			return rc;
	}
	if (link_lost(*link))
		return win_peer_error(win, rank);
	if ((*link)->route == ROUTE_NONE) {
		link_map(*link);
		route_tell(win, *link);
	}
	return 0;
}

#define RANGE_HINT_BYTES 128

/*
 * Writes what the displacement would be if the caller gave bytes instead of units; "" if unlikely.
 */
static const char *range_hint(const struct link *link, size_t disp, size_t size_bytes, char text[RANGE_HINT_BYTES])
{
	const uint32_t unit = link->disp_unit_bytes;

	*text = '\0';
	if (unit > 1 && disp % unit == 0 && disp <= link->size_bytes && size_bytes <= link->size_bytes - disp)
		snprintf(text, RANGE_HINT_BYTES, "; displacements count units of %u bytes: %zu would be byte %zu", unit,
		         disp / unit, disp);
	return text;
}

/* Returns the error for bytes that are not in_range, with their numbers. */
static int out_of_range(const struct oriel_win *win, const struct link *link, size_t disp, size_t size_bytes,
                        const char *call)
{
	char hint[RANGE_HINT_BYTES];
	uint64_t first, behind;

	if (__builtin_mul_overflow((uint64_t)disp, link->disp_unit_bytes, &first) ||
	    __builtin_add_overflow(first, size_bytes, &behind))
		return err_set(ORIEL_ERR_RANGE,
		               "%s: %s: %zu bytes at displacement %zu (unit %u bytes) of rank %d, whose window has %llu bytes",
		               call, win->label, size_bytes, disp, link->disp_unit_bytes, link->rank,
		               (unsigned long long)link->size_bytes);
	return err_set(ORIEL_ERR_RANGE,
	               "%s: %s: %zu bytes at displacement %zu (unit %u bytes) of rank %d are bytes %llu to %llu, and its "
	               "window has %llu bytes%s",
	               call, win->label, size_bytes, disp, link->disp_unit_bytes, link->rank, (unsigned long long)first,
	               (unsigned long long)(behind - 1), (unsigned long long)link->size_bytes,
	               range_hint(link, disp, size_bytes, hint));
}

int op_range(struct oriel_win *win, struct link *link, struct op *op, size_t disp, const char *call)
{
	uint64_t offset;

	if (!in_range(link, disp, op->size_bytes, &offset))
		return out_of_range(win, link, disp, op->size_bytes, call);
	op->remote_addr = link->base + offset;
	return link_remote_regions(link) ? remote_regions_find(win, link, op->remote_addr, op->size_bytes) : 0;
}

int op_access(const struct oriel_win *win, const struct link *link, enum op_kind kind, const char *call)
{
	if (kind == OP_GET || !link->read_only)
		return 0;
	return err_set(ORIEL_ERR_ACCESS, "%s: %s: rank %d may only read its own memory, so it cannot be put to", call,
	               win->label, link->rank);
}
