// SPDX-License-Identifier: BSD-2-Clause
/* watermark.c - see watermark.h. */
#include "op/watermark.h"

#include "base/err.h"
#include "op/issue.h"
#include "win/win.h"

/*
 * Epochs with the member that have been closed, as far as operations are deferred in such: of
 * lock_all, and of start.
 */
static uint64_t watermark_epochs(const struct oriel_win *win, const struct link *link)
{
	return win->requests.closed + link->completed_sent;
}

/*
 * What was deferred has gone out, and its epoch is closed, or complete is waiting for the end of
 * it.
 */
static bool is_past(const struct oriel_win *win, const struct link *link, uint64_t epochs)
{
	uint64_t now = watermark_epochs(win, link);

	return now != epochs && !(link->marks & LINK_FLAGGED && now == epochs + 1);
}

/*
 * Of a closed epoch everything is complete at the origin; and all that this rank has ever issued
 * covers the rest.
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

/*
 * Some of it was deferred: 1 once *upto has numbers. The end of the epoch has completed it, or has
 * found the member lost.
 */
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
 * Nothing is left for a later flush or request, if it was the last. Complete is not always placed
 * (device.h).
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
