// SPDX-License-Identifier: BSD-2-Clause
/*
 * watermark.h - whether what has been issued to a member up to some moment is complete
 *
 * DESIGN NOTES
 *
 * Work requests and active messages are complete in the order of their numbers, so two numbers say
 * what a flush or a request waits for, and no operation has an object of its own. What is deferred
 * has no numbers yet. That is so until the member's post has been seen or, under lock_all, its lock
 * is held; then everything that is deferred for it goes out before anything else does (op/issue.c),
 * once in an epoch: the numbers are those of the first look that finds nothing deferred. They may
 * cover some operations more, which were issued between; never others later. Until then it is known
 * by how many epochs with the member had been closed: once there are more, it is complete at the
 * origin.
 *
 * The caller of all holds win->lock.
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
 * sides, if nothing is deferred. If a completion does not say that data is placed, a read behind it
 * is waited for (wire.h).
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
 * Returns the watermark for a flush, as watermark_now. The answer to an active message says what
 * the completions of its requests would.
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

/*
 * Makes one turn of a wait: posts the requests and has their completion reported. Returns whether
 * they are complete. Not for deferred operations.
 */
static inline bool watermark_complete(struct link *link, const struct watermark *upto)
{
	if (upto->number == 0)
		wire_ring(&link->peer->wire); /* what is complete at the origin may still be in the batch */
	else if (!wire_drive(&link->peer->wire, upto->number))
		return false;
	return watermark_applied(link, upto->am_number);
}

/* Sets the watermark of what is issued now, deferred or not, and starts it. */
void watermark_begin(struct oriel_win *win, struct link *link, bool local, struct watermark *upto);

/*
 * Makes one turn of a wait for the watermark of watermark_begin. Returns 1 when it is complete, 0
 * when it has to wait. ERRORS: ORIEL_ERR_PEER (no text); or the error of a deferred operation,
 * after which the caller waits again.
 */
int watermark_step(struct oriel_win *win, struct link *link, bool local, struct watermark *upto);

#endif
