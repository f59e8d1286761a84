// SPDX-License-Identifier: BSD-2-Clause
/* See route_text.h. */
#include "op/route_text.h"

#include <stdio.h>

#include "base/settings.h"
#include "job/job.h"
#include "op/acc_route.h"
#include "win/lock_access.h"

#define LOCK_TEXT_BYTES 64

static const char *transfer_text(const struct link *link)
{
	switch ((enum link_route)link->route) {
	case ROUTE_REGIONS:
		return "as each region can be reached";
	case ROUTE_MAP:
		return "loads and stores";
	case ROUTE_SYNC:
		return "copies by the device";
	case ROUTE_RDMA:
	case ROUTE_NONE:
		break;
	}
	return "work requests";
}

/* Only the alignment of the address counts. */
static const char *acc_text(const struct link *link, enum oriel_type type, uint64_t addr)
{
	switch (acc_route(link, type, addr, 1)) {
	case ACC_ROUTE_PAGE_LOCK:
		return type == ORIEL_INT64 ? "this processor" : "this processor under page locks";
	case ACC_ROUTE_SELF:
		return "this rank's handler";
	case ACC_ROUTE_DEVICE:
		return "the target's device";
	case ACC_ROUTE_AM:
		break;
	}
	return "active messages";
}

static const char *lock_text(const struct oriel_win *win, const struct link *link, char text[LOCK_TEXT_BYTES])
{
	const struct lock *lock = lock_of(win, link);

	*text = '\0';
	if (lock && lock->phase == PHASE_HELD)
		snprintf(text, LOCK_TEXT_BYTES, "; lock: %s", lock->header ? "loads and stores" : "work requests");
	return text;
}

void route_tell(const struct oriel_win *win, const struct link *link)
{
	char lock[LOCK_TEXT_BYTES];

	if (!tell_has_routes())
		return;
	if (link->route == ROUTE_REGIONS)
		tell(win->job->rank, "%s: rank %d: put, get, accumulate: %s%s", win->label, link->rank, transfer_text(link),
		     lock_text(win, link, lock));
	else
		tell(win->job->rank, "%s: rank %d: put, get: %s; accumulate: integers of 8 bytes: %s, numbers: %s, others: %s%s",
		     win->label, link->rank, transfer_text(link), acc_text(link, ORIEL_INT64, 0),
		     acc_text(link, ORIEL_DOUBLE, 0), acc_text(link, ORIEL_DOUBLE, 1), lock_text(win, link, lock));
}
