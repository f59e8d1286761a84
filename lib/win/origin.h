// SPDX-License-Identifier: BSD-2-Clause
/* origin.h - origin memory: registered already, registered for an epoch, or copied */
#ifndef ORIEL_ORIGIN_H
#define ORIEL_ORIGIN_H

#include <stdint.h>

#include "job/job.h"
#include "mem/mem.h"
#include "win/link.h"
#include "win/win.h"

#define BURST_COPY_MAX 1024 /* bytes */

/*
 * Puts of so many bytes are copied. Where the device moves bytes itself, as a rule at once, only
 * the first one of an epoch that is not small: it alone would have complete wait for an answer,
 * and among others that costs less than the copies.
 */
static inline size_t origin_copied_max(const struct link *link)
{
	bool burst = link->route == ROUTE_SYNC && (link->marks & LINK_TOUCHED);

	return burst ? BURST_COPY_MAX : WIRE_COPY_MAX;
}

/*
 * Of memory that has no key of its own. A put that is copied needs none: who is to have it back
 * need not wait then.
 */
static inline uint32_t origin_any_lkey(const struct link *link, size_t size_bytes, bool get)
{
	return get || size_bytes > origin_copied_max(link) ? device_any_lkey(link->peer->device, get) : 0;
}

/*
 * Returns the key of memory that is registered until the epoch's operations are complete; 0 where
 * that fails, and the wire copies piece by piece. The caller holds win->lock, as in the next.
 */
uint32_t origin_epoch_lkey(struct oriel_win *win, const struct link *link, void *origin, size_t size_bytes, bool get);

/*
 * Returns the key of the origin memory of an operation by the wire; 0: it is copied, in pieces if
 * it is not small. Memory that is neither registered nor small is registered for the epoch,
 * unless that fails.
 */
static inline uint32_t origin_lkey(struct oriel_win *win, const struct link *link, void *origin, size_t size_bytes,
                                   bool get)
{
	uint32_t lkey = mem_find(&win->job->mems, link->peer->device->index, origin, size_bytes, get, &win->origins);

	if (lkey == 0)
		lkey = origin_any_lkey(link, size_bytes, get);
	return lkey || size_bytes <= WIRE_COPY_MAX ? lkey : origin_epoch_lkey(win, link, origin, size_bytes, get);
}

/*
 * Returns whether the memory is what the window's last operation has used, and nothing has to be
 * registered; *lkey is then what origin_lkey returns.
 */
static inline bool origin_seen_lkey(const struct oriel_win *win, const struct link *link, const void *origin,
                                    size_t size_bytes, bool get, uint32_t *lkey)
{
	if (!mem_seen_has(&win->job->mems, link->peer->device->index, origin, size_bytes, get, &win->origins, lkey))
		return false;
	if (*lkey == 0)
		*lkey = origin_any_lkey(link, size_bytes, get);
	return *lkey || size_bytes <= WIRE_COPY_MAX;
}

/* Deregister what was registered for operations that are now complete, or lost with their peer. */
void release_epoch_mrs(struct oriel_win *win);

#endif
