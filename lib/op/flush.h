// SPDX-License-Identifier: BSD-2-Clause
/* flush.h - flushing, for fence */
#ifndef ORIEL_FLUSH_H
#define ORIEL_FLUSH_H

#include <stdbool.h>

#include "op/enter.h"
#include "win/link.h"
#include "win/origin.h"
#include "win/win.h"

/*
 * The step of flush_run for one link: posts what was issued, and polls; in a first look (`first`)
 * a few times more. Returns 1 when it is complete, 0, or an error. The caller holds win->lock.
 */
int flush_link(struct oriel_win *win, struct link *link, bool local, bool first);

/* Ends a flush of one link, or (NULL) of all, that is done: the memory is the caller's again. */
static inline void flush_end(struct oriel_win *win, const struct link *only, bool local)
{
	if (!local && !only && win->epoch_mrs.count)
		release_epoch_mrs(win);
	win->epoch_mrs.reusable = win->epoch_mrs.count;
}

/* Returns the code, with text if it is ORIEL_ERR_PEER. */
int flush_failed(const struct oriel_win *win, int rank, int code, const char *call);

/* Does what flush_run does after a first look at one link. */
int flush_rest(struct oriel_win *win, struct link *only, const struct link *but, bool local, const char *call);

/*
 * Waits until the operations issued so far to one member, or (NULL) to all touched links but one
 * (or NULL), are complete at both sides, or (local) at the origin. The caller holds win->lock,
 * which a wait gives up. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT.
 */
static inline int flush_run(struct oriel_win *win, struct link *only, const struct link *but, bool local,
                            const char *call)
{
	int step = only ? flush_link(win, only, local, true) : 0;

	if (step == 0)
		return flush_rest(win, only, but, local, call);
	flush_end(win, only, local);
	return step > 0 ? 0 : flush_failed(win, only->rank, step, call);
}

/*
 * Returns whether the target lives, and nothing for it is in flight, deferred or to come. The
 * caller holds win->lock.
 */
static inline bool flush_idle(const struct oriel_win *win, struct link *link)
{
	if (!link || !(link->marks & (win->sync & SYNC_NAMING ? LINK_ACCESS : LINK_TOUCHED)))
		return true;
	if ((link->marks & (LINK_GRANTED | LINK_TOUCHED)) != LINK_GRANTED || link->deferred || link_lost(link))
		return false;
	link->marks |= LINK_FLUSHED;
	return true;
}

/*
 * Returns the first link but one from place *next of the window's table on that is not idle, or
 * NULL; *next becomes the place behind it. The caller holds win->lock.
 */
static inline struct link *flush_busy(const struct oriel_win *win, const struct link *but, uint32_t *next)
{
	while (*next < win->links.capacity) {
		struct link *link = win->links.table[(*next)++];

		if (!flush_idle(win, link) && link != but)
			return link;
	}
	return NULL;
}

/* Flush and flush_local (epoch/fast.c) call these. The caller holds win->lock. */

static inline const char *flush_call(bool local)
{
	return local ? "oriel_win_flush_local" : "oriel_win_flush";
}

/* Returns rc, or what has failed meanwhile. */
static inline int flush_report(struct oriel_win *win, int rc, const char *call)
{
	return rc || !win_has_news(win) ? rc : win_find_refused(win, call);
}

/* The general path, which checks the epoch. flush_any enters the window. */
int flush_any(struct oriel_win *win, int rank, bool local);
int flush_held(struct oriel_win *win, int rank, bool local);

#endif
