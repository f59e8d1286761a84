// SPDX-License-Identifier: BSD-2-Clause
/*
 * flush_all.h - requests for ORIEL_RANK_ALL
 *
 * DESIGN NOTES
 *
 * A request has no room for a watermark of each target. The window has one *flush of all*: it notes
 * for each target what has been issued when it begins, and ends when that is complete. A request
 * that is made meanwhile gets the next one, which begins then.
 *
 * A flush of all does not wait for a lost member. Its requests get ORIEL_ERR_PEER when the others
 * are complete, or earlier if these take long. The window keeps the first and the last flush of all
 * that has lost a member: all requests between them get the error.
 *
 * The end of lock_all completes everything, and so ends the current flush of all and the next.
 *
 * The caller of all functions holds win->lock.
 */
#ifndef ORIEL_FLUSH_ALL_H
#define ORIEL_FLUSH_ALL_H

#include <stdbool.h>
#include <stdint.h>

#include "job/peer.h"
#include "win/link.h"
#include "win/win.h"

struct oriel_win;
struct wait;

/*
 * Sets *number to the flush of all that covers what has been issued up to now; 0 if there is
 * nothing to wait for (local: at the origin). ERRORS: ORIEL_ERR_MEMORY.
 */
int flush_all_of_now(struct oriel_win *win, bool local, uint64_t *number);

/*
 * Makes one turn of a wait for a flush of all. Returns 1 when it has ended, else 0. ERRORS:
 * ORIEL_ERR_PEER, with text, when it has ended, too; ORIEL_ERR_MEMORY, or that of a deferred
 * operation, after which the caller waits again.
 */
int flush_all_step(struct oriel_win *win, uint64_t number);

/*
 * Watches the members that the flush of all waits for, in a wait's periodic check. ERRORS:
 * ORIEL_ERR_PEER, if a member is lost and the others take long.
 */
int flush_all_watch(struct oriel_win *win, struct wait *wait);

/*
 * Notes the end of an epoch of lock_all. `lost`: a lost rank of the window's group, or
 * ORIEL_RANK_NONE.
 */
void flush_all_close(struct oriel_win *win, int lost);

/*
 * Whether what has been issued to a member up to some moment is complete
 *
 * DESIGN NOTES
 *
 * Work requests and active messages are complete in the order of their numbers. So two numbers say
 * what a flush or a request waits for, and no operation has an object of its own.
 *
 * A deferred operation has no numbers yet. Those for a member go out before any other, once in an
 * epoch: when its post has been seen or, under lock_all, its lock is held (op/issue.c). So the
 * numbers of the first look that finds none deferred cover them. Until then the watermark holds how
 * many epochs with the member had been closed: once there are more, they are locally complete.
 */

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

/* Posts and polls. Returns whether the operations, none of them deferred, are complete. */
static inline bool watermark_complete(struct link *link, const struct watermark *upto)
{
	if (upto->number == 0)
		wire_ring(&link->peer->wire); /* the batch may hold what is complete at the origin */
	else if (!wire_drive(&link->peer->wire, upto->number))
		return false;
	return link_applied(link, upto->am_number);
}

/*
 * Posts and polls. Returns whether all that was issued to the member is complete; nothing is
 * deferred for it.
 */
static inline bool link_complete(struct link *link)
{
	struct watermark upto = watermark_now(link, false);

	return watermark_complete(link, &upto);
}

/*
 * Clears the marks if nothing is left for a later flush or request. Complete operations are not
 * always placed (device.h).
 */
static inline void watermark_forget(struct link *link, bool local)
{
	if (link->deferred || link_am_number(link) || (local && link->peer->device->read_behind) ||
	    !wire_done(&link->peer->wire, link->last_number))
		return;
	link->marks &= (uint16_t)~LINK_IN_FLIGHT;
}

/* Sets the watermark of what is issued now, deferred or not, and posts it. */
void watermark_begin(struct oriel_win *win, struct link *link, bool local, struct watermark *upto);

/*
 * Makes one turn of a wait for the watermark. Returns 1 when it is complete, else 0. ERRORS:
 * ORIEL_ERR_PEER (no text); or that of a deferred operation, after which the caller waits again.
 */
int watermark_step(struct oriel_win *win, struct link *link, bool local, struct watermark *upto);

#endif
