// SPDX-License-Identifier: BSD-2-Clause
/* flush.h - flushing, for fence */
#ifndef ORIEL_FLUSH_H
#define ORIEL_FLUSH_H

#include <stdbool.h>

#include "win/link.h"
#include "win/win.h"

/*
 * Waits until the operations issued so far to `rank`, or to all touched links, are complete at both
 * sides, or (local) at the origin. Called without win->lock. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_TIMEOUT.
 */
int flush_run(struct oriel_win *win, int rank, bool local, const char *call);

/*
 * Posts what was issued to all members but one, which may be NULL, and polls a few times. Returns
 * whether it is complete at both sides, or (local) at the origin; if not, flush_run waits. The
 * caller holds win->lock.
 */
bool flush_others_soon(struct oriel_win *win, const struct link *but, bool local);

/*
 * Posts and polls for one member as flush_others_soon does. Something is in flight. The caller
 * holds win->lock.
 */
bool flush_link_soon(struct oriel_win *win, struct link *link, bool local);

static inline bool is_in_epoch(const struct oriel_win *win, const struct link *link)
{
	return link->marks & (win->sync & SYNC_NAMING ? LINK_ACCESS : LINK_TOUCHED);
}

/*
 * Returns whether the target lives, and nothing for it is in flight, deferred or to come. The
 * caller holds win->lock.
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
 * Returns the first link from place *next of the window's table on that is not idle, or NULL; *next
 * becomes the place behind it. The caller holds win->lock.
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
