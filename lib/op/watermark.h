// SPDX-License-Identifier: BSD-2-Clause
/*
 * watermark.h - whether what has been issued to a member up to some moment is complete
 *
 * DESIGN NOTES
 *
 * Work requests and active messages are complete in the order of their numbers. So two numbers say
 * what a flush or a request waits for, and no operation has an object of its own.
 *
 * A deferred operation has no numbers yet. All deferred operations for a member go out before any
 * other, once in an epoch: when its post has been seen or, under lock_all, its lock is held
 * (op/issue.c). So the numbers of the first look that finds none deferred cover them. Until then
 * the watermark holds how many epochs with the member had been closed: once there are more, the
 * operations are complete at the origin.
 *
 * The caller of all functions holds win->lock.
 */
#ifndef ORIEL_WATERMARK_H
#define ORIEL_WATERMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "job/peer.h"
#include "win/link.h"
#include "win/requests.h"

struct oriel_win;

/*
 * Returns the watermark of what is issued now and not complete at the origin (local) or at both
 * sides, if nothing is deferred. If a completion does not say that data is placed, it includes a
 * read behind the data (wire.h).
 */
static inline struct watermark watermark_now(struct link *link, bool local)
{
	if (!(link->marks & LINK_TOUCHED) || (local && !(link->marks & (LINK_GOT | LINK_WAITING))))
		return (struct watermark){ 0 };
	if (!local)
		link->last_number = wire_placing(&link->peer->wire, link->last_number);
	return (struct watermark){ link->last_number, link_am_number(link) };
}

/*
 * Returns watermark_now for a flush, where the answer to an active message says what the
 * completions of its requests would.
 */
static inline struct watermark watermark_to_flush(struct link *link, bool local)
{
	if ((link->marks & LINK_TOUCHED) && !local && link_has_only_ams(link))
		return (struct watermark){ 0, link_am_number(link) };
	return watermark_now(link, local);
}

/*
 * Returns whether active messages up to a number are applied at the target, and their results are
 * here.
 */
static inline bool watermark_applied(struct link *link, uint64_t am_number)
{
	if (am_number == 0)
		return true;
	if (!am_progress(link->peer, am_number))
		return false;
	if (link_am_number(link) == am_number)
		link_forget_ams(link);
	return true;
}

/* Posts and polls. Returns whether the operations, none of them deferred, are complete. */
static inline bool watermark_complete(struct link *link, const struct watermark *upto)
{
	if (upto->number == 0)
		wire_ring(&link->peer->wire); /* the batch may hold what is complete at the origin */
	else if (!wire_drive(&link->peer->wire, upto->number))
		return false;
	return watermark_applied(link, upto->am_number);
}

/* Sets the watermark of what is issued now, deferred or not, and posts it. */
void watermark_begin(struct oriel_win *win, struct link *link, bool local, struct watermark *upto);

/*
 * Makes one turn of a wait for the watermark. Returns 1 when it is complete, else 0. ERRORS:
 * ORIEL_ERR_PEER (no text); or that of a deferred operation, after which the caller waits again.
 */
int watermark_step(struct oriel_win *win, struct link *link, bool local, struct watermark *upto);

#endif
