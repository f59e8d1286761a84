// SPDX-License-Identifier: BSD-2-Clause
/* flush.h - what fence needs of flush */
#ifndef ORIEL_FLUSH_H
#define ORIEL_FLUSH_H

#include <stdbool.h>

#include "win/link.h"
#include "win/win.h"

/*
 * Wait until the operations issued so far to `rank`, or to all touched links, are complete at both
 * sides, or (local) at the origin. Called without the lock. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_TIMEOUT.
 */
int flush_run(struct oriel_win *win, int rank, bool local, const char *call);

/*
 * Have what was issued to all members but one, or NULL, posted; whether a little while's looks find
 * it complete at both sides. False: flush_run waits. The caller holds the lock, as in the next.
 */
bool flush_others_soon(struct oriel_win *win, const struct link *but);

/* The same for one, to which something is under way; or (local) complete at the origin. */
bool flush_link_soon(struct oriel_win *win, struct link *link, bool local);

/* Whether the open epoch has to do with the link at all. */
static inline bool is_in_epoch(const struct oriel_win *win, const struct link *link)
{
	return link->marks & (win->sync & SYNC_NAMING ? LINK_ACCESS : LINK_TOUCHED);
}

/*
 * Whether nothing is under way, deferred or to come for the target, which lives. The caller holds
 * win->lock, as in the next.
 */
static inline bool flush_idle(const struct oriel_win *win, struct link *link)
{
	if (!link || !is_in_epoch(win, link))
		return true;
	if ((link->marks & (LINK_GRANTED | LINK_TOUCHED)) != LINK_GRANTED || link->deferred || link_lost(link))
		return false;
	link->marks |= LINK_FLUSHED;
	return true;
}

/*
 * The first at or behind place *next of the window's table for which that is not so, and *next the
 * place behind it; or NULL.
 */
static inline struct link *flush_busy(const struct oriel_win *win, uint32_t *next)
{
	while (*next < win->links.capacity) {
		struct link *link = win->links.table[(*next)++];

		if (!flush_idle(win, link))
			return link;
	}
	return NULL;
}

#endif
