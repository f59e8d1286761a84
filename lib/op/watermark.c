// SPDX-License-Identifier: BSD-2-Clause
/* See watermark.h. */
#include "op/watermark.h"

#include "base/err.h"
#include "op/issue.h"
#include "win/win.h"

/* Returns the number of closed epochs in which operations for the member can have been deferred. */
static uint64_t watermark_epochs(const struct oriel_win *win, const struct link *link)
{
	return win->requests.closed + link->completed_sent;
}

/* Returns whether the epoch of the deferred operations is closed, or complete has issued them. */
static bool is_past(const struct oriel_win *win, const struct link *link, uint64_t epochs)
{
	uint64_t now = watermark_epochs(win, link);

	return now != epochs && !(link->marks & LINK_FLAGGED && now == epochs + 1);
}

/*
 * Returns the watermark of a closed epoch: everything is complete at the origin, and what this rank
 * has ever issued covers the rest.
 */
static struct watermark watermark_past(struct link *link, bool local)
{
	if (local)
		return (struct watermark){ 0 };
	if (link->last_number)
		link->last_number = wire_placing(&link->peer->wire, link->last_number);
	return (struct watermark){ link->last_number, link_am_number(link) };
}

void watermark_begin(struct oriel_win *win, struct link *link, bool local, struct watermark *upto)
{
	if (link->deferred) {
		*upto = (struct watermark){ WATERMARK_DEFERRED, watermark_epochs(win, link) };
		return;
	}
	*upto = watermark_now(link, local);
	if (upto->number && watermark_complete(link, upto))
		*upto = (struct watermark){ 0 };
}

/* Turns a deferred watermark into numbers. Returns 1 once *upto has numbers, 0, or an error. */
static int deferred_step(struct oriel_win *win, struct link *link, bool local, struct watermark *upto)
{
	int rc;

	if (is_past(win, link, upto->am_number)) {
		if (link_lost(link))
			return ORIEL_ERR_PEER;
		*upto = watermark_past(link, local);
		return 1;
	}
	rc = issue_granted(win, link);
	if (rc == 1)
		*upto = watermark_now(link, local);
	return rc;
}

/*
 * Clears the marks if nothing is left for a later flush or request. Complete operations are not
 * always placed (device.h).
 */
static void forget(struct link *link, bool local, const struct watermark *upto)
{
	bool placed = !local || !link->peer->device->read_behind;

	if (upto->number == link->last_number && !link_am_number(link) && !link->deferred && placed)
		link->marks &= (uint16_t) ~(LINK_TOUCHED | LINK_GOT | LINK_WAITING);
}

int watermark_step(struct oriel_win *win, struct link *link, bool local, struct watermark *upto)
{
	int rc = upto->number == WATERMARK_DEFERRED ? deferred_step(win, link, local, upto) : 1;

	if (rc <= 0)
		return rc;
	if (!watermark_complete(link, upto))
		return link_lost(link) ? link_let_go(link) : 0;
	if (upto->number)
		forget(link, local, upto);
	return 1;
}
