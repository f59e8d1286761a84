// SPDX-License-Identifier: BSD-2-Clause
/*
 * general.h - the general paths of epoch calls, and what fast.c shares with them
 *
 * fast.c calls these functions if anything is unusual. Those named _any enter the window; of the
 * others the caller holds win->lock. It still does when they return; a wait in them gives it up.
 */
#ifndef ORIEL_GENERAL_H
#define ORIEL_GENERAL_H

#include <stdbool.h>

#include "base/order.h"
#include "am/am_recv.h"
#include "win/epoch.h"
#include "win/link.h"
#include "win/origin.h"
#include "win/win.h"

/* The marks of an access epoch, which end with it. */
#define ACCESS_MARKS (LINK_ACCESS | LINK_GRANTED | LINK_TOUCHED | LINK_GOT | LINK_WAITING | LINK_FLAGGED | LINK_CLOSED)

int start_any(struct oriel_win *win, const struct oriel_group *group, int assertions);
int complete_any(struct oriel_win *win);
int post_any(struct oriel_win *win, const struct oriel_group *group, int assertions);
int wait_any(struct oriel_win *win);
int lock_any(struct oriel_win *win, enum oriel_lock_type type, int rank, int assertions);
int unlock_any(struct oriel_win *win, int rank);

/* Completes an epoch of which the fast path has closed the first `closed` links. */
int complete_held(struct oriel_win *win, uint32_t closed);

int post_held(struct oriel_win *win, const struct oriel_group *group, int assertions);

int wait_held(struct oriel_win *win);

/* Locks, or continues what lock_take_mapped has begun. */
int lock_member(struct oriel_win *win, enum oriel_lock_type type, int rank, int assertions);

int unlock_member(struct oriel_win *win, int rank);

static inline void start_links(struct oriel_win *win, bool nocheck)
{
	for (uint32_t i = 0; i < win->access.count; i++) {
		struct link *link = win->access.links[i];

		link->marks = (uint16_t)((link->marks & LINK_LASTING) | LINK_ACCESS);
		if (nocheck)
			link->marks |= LINK_GRANTED;
		else
			link->posted_expected++;
	}
	epoch_begun(win, CALL_START, SYNC_ACCESS);
}

/* Returns whether this is the group of the previous epoch, and post is legal. */
static inline bool may_post(const struct oriel_win *win, const struct oriel_group *group)
{
	return epoch_is_for(&win->exposure, group) && epoch_allows_for_somebody(win, CALL_POST);
}

/* Returns whether the origin is known and alive, and not still inside an epoch. */
static inline bool takes_post(const struct oriel_win *win, const struct link *link)
{
	return link_state(link) == LINK_READY && state_load(&link->peer->state) != PEER_DEAD && /* pairs with rank_lost */
	       flag_load(&link_flags(win, link)->completed) == link->completed_expected; /* pairs with send_completed */
}

static inline void post_by_store(struct link *link, struct flag_pair *there)
{
	link->completed_expected++;
	flag_store(&there->posted, ++link->posted_sent); /* pairs as in link_send_posted */
}

static inline void exposure_begun(struct oriel_win *win)
{
	epoch_begun(win, CALL_POST, SYNC_EXPOSURE);
	win->exposure.next = 0;
	win->probe_ns = 0;
}

/*
 * Returns whether all origins have completed, and what they sent before is applied. Only the thread
 * that closes the epoch calls it.
 */
static inline bool exposure_step(struct oriel_win *win)
{
	struct epoch *epoch = &win->exposure;

	for (; epoch->next < epoch->count; epoch->next++) {
		const struct link *link = epoch->links[epoch->next];
		struct am_receiver *ring;

		if (flag_load(&link_flags(win, link)->completed) != link->completed_expected)
			return false; /* pairs with send_completed at the origin */
		ring = __atomic_load_n(&link->peer->am_receiver, __ATOMIC_ACQUIRE); /* pairs with am_receiver_open */
		if (ring && !am_drain_ring(ring))
			return false;
	}
	return true;
}

static inline void exposure_end(struct oriel_win *win, bool over)
{
	win->sync &= ~(unsigned)(over ? SYNC_EXPOSURE_ALL : SYNC_WAITING);
}

/* The marks of a lock epoch, which end with it. */
#define LOCK_MARKS (ACCESS_MARKS | LINK_LOCK | LINK_LOCKING | LINK_EXCLUSIVE | LINK_NOCHECK)

static inline void lock_begun(struct oriel_win *win, struct link *link, enum oriel_lock_type type)
{
	link->marks = (uint16_t)((link->marks & LINK_LASTING) | LINK_LOCK | LINK_LOCKING | LINK_FLUSHED |
	                         (type == ORIEL_LOCK_EXCLUSIVE ? LINK_EXCLUSIVE : 0));
	win->locks.open++;
	win->sync |= SYNC_LOCK;
	win->sync &= ~(unsigned)SYNC_FENCE;
}

/* Returns whether this was the last lock epoch. */
static inline bool lock_counted_out(struct oriel_win *win)
{
	win->epoch_mrs.reusable = win->epoch_mrs.count; /* the memory is the caller's again */
	if (--win->locks.open > 0)
		return false;
	win->sync &= ~(unsigned)SYNC_LOCK;
	return true;
}

static inline void lock_ended(struct oriel_win *win)
{
	if (lock_counted_out(win) && win->epoch_mrs.count)
		release_epoch_mrs(win);
}

/* The epochs being closed: of one link, or of all. */
struct unlocking {
	struct oriel_win *win;
	struct link *only; /* NULL: all that carry LINK_LOCK */
	const char *call;
	bool all;
	int code; /* first error of a link */
	int rank; /* in the window's group */
};

/*
 * Closes them: issues what is deferred, gives back the lock behind it, and completes all of it. The
 * links that are done lose their marks. ERRORS:
 * ORIEL_ERR_TIMEOUT, ORIEL_ERR_MEMORY: links are left; ORIEL_ERR_PEER (no text): none is.
 */
int unlock_run(struct unlocking *unlocking);

#endif
