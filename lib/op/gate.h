// SPDX-License-Identifier: BSD-2-Clause
/*
 * gate.h - whether operations may go out to a member now
 *
 * DESIGN NOTES
 *
 * The gate is decided once in an epoch and remembered: link->open_in == win->epoch_serial says that
 * an open epoch names the member, that its post has been seen or its lock is held, that it is
 * described and alive, and that nothing is deferred for it. Only gate_pass opens a link.
 *
 * gate_close_all moves the serial, which closes the gate to every member: when an epoch ends or
 * begins to end (complete, fence, unlock_all, free), when start has opened an epoch with an empty
 * group, which the next operation ends, and when news are taken (op/enter.h). A member's death, its
 * leaving the job, and its loss of the window are news, and each call asks for news before the
 * gate; so no operation loads a peer's state. gate_close closes the gate to one member: when it is
 * to be unlocked, and when an operation is deferred for it.
 *
 * An epoch that begins does not move the serial: none can begin before the one in which links were
 * opened has ended. In a fence epoch the operation that opens a link counts as one of the epoch
 * (F3), which makes start, post and the locks illegal until the next fence.
 *
 * Accumulate operations are ordered with active messages in flight (A15), and check LINK_AM; puts
 * and gets are not (D8).
 *
 * The caller of all functions holds win->lock, and has found no news.
 */
#ifndef ORIEL_GATE_H
#define ORIEL_GATE_H

#include <stdbool.h>

#include "base/order.h"
#include "win/link.h"
#include "win/win.h"

/* The marks that say whether the open epoch names a member, or has ended for it. */
#define GATE_NAMED (LINK_ACCESS | LINK_FLAGGED | LINK_LOCKING)

/*
 * Returns whether operations may go out to the member. Changes nothing, but looks at its post if
 * need be. The member's route may be undecided.
 */
static inline bool gate_is_open(const struct oriel_win *win, struct link *link)
{
	if (link->open_in == win->epoch_serial)
		return true;
	if ((win->sync & SYNC_SHUT) || link->deferred || link_state(link) != LINK_READY ||
	    state_load(&link->peer->state) == PEER_DEAD) /* pairs with rank_lost */
		return false;
	if (!(win->sync & SYNC_NAMING))
		return win->sync & SYNC_FENCE;
	if ((link->marks & (GATE_NAMED | LINK_GRANTED | LINK_LOCK)) != LINK_ACCESS)
		return (link->marks & (GATE_NAMED | LINK_GRANTED)) == (LINK_ACCESS | LINK_GRANTED);
	if (!link_post_is_there(win, link))
		return false;
	link->marks |= LINK_GRANTED;
	return true;
}

/*
 * In lock_all: makes the member a target, and takes its lock if no other rank holds or wants it.
 * Returns whether the lock is held; if it is only asked for, link_grant goes on.
 */
bool gate_enter_lock_all(struct oriel_win *win, struct link *link);

/*
 * Returns what gate_is_open does. The operation moves bytes and is in range: it goes out in any
 * case, so this may take the member's lock.
 */
static inline bool gate_opens(struct oriel_win *win, struct link *link)
{
	return gate_is_open(win, link) || gate_enter_lock_all(win, link);
}

/*
 * Notes that an operation that moves bytes and is in range goes out: the next one need not look,
 * and a fence epoch has an operation.
 */
static inline void gate_pass(struct oriel_win *win, struct link *link)
{
	link->open_in = win->epoch_serial;
	if (!(win->sync & SYNC_NAMING))
		win->sync |= SYNC_FENCE_USED;
}

/* Returns the link to a member if it is in the first place of the table, as mostly; else NULL. */
static inline struct link *gate_find(const struct oriel_win *win, int rank)
{
	struct link *link;

	return link_find_first(win, rank, &link) ? link : NULL;
}

static inline struct link *gate_link(const struct oriel_win *win, int rank)
{
	struct link *link = gate_find(win, rank);

	return link && gate_is_open(win, link) ? link : NULL;
}

#endif
