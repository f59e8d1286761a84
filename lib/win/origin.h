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
 * Returns the size up to which puts are copied. On ROUTE_SYNC, a put above BURST_COPY_MAX is copied
 * only if it is the epoch's first: alone, it would make complete wait for an answer.
 */
static inline size_t origin_copied_max(const struct link *link)
{
	bool burst = link->route == ROUTE_SYNC && (link->marks & LINK_TOUCHED);

	return burst ? BURST_COPY_MAX : WIRE_COPY_MAX;
}

/* Returns the device's key for any memory. A copied put needs none. */
static inline uint32_t origin_any_lkey(const struct link *link, size_t size_bytes, bool get)
{
	return get || size_bytes > origin_copied_max(link) ? device_any_lkey(link->peer->device, get) : 0;
}

/*
 * Returns the key of memory that stays registered for the epoch; 0: that failed, and the wire
 * copies in pieces. Under win->lock, as the next.
 */
uint32_t origin_epoch_lkey(struct oriel_win *win, const struct link *link, void *origin, size_t size_bytes, bool get);

/*
 * Returns the key of an operation's origin memory, which is registered for the epoch if need be; 0:
 * it is copied, in pieces if it is not small.
 */
static inline uint32_t origin_lkey(struct oriel_win *win, const struct link *link, void *origin, size_t size_bytes,
                                   bool get)
{
	const struct mem_use use = { (uintptr_t)origin, size_bytes, link->peer->device->index, get };
	uint32_t lkey = mem_find(&win->job->mems, &use, &win->origins);

	if (lkey == 0)
		lkey = origin_any_lkey(link, size_bytes, get);
	return lkey || size_bytes <= WIRE_COPY_MAX ? lkey : origin_epoch_lkey(win, link, origin, size_bytes, get);
}

/*
 * Returns whether the window's last operation used this memory, and no registration is needed; sets
 * the key of origin_lkey.
 */
static inline bool origin_seen_lkey(const struct oriel_win *win, const struct link *link, struct ibv_sge *origin,
                                    bool get)
{
	const struct mem_use use = { origin->addr, origin->length, link->peer->device->index, get };

	if (!mem_seen_has(&win->job->mems, &use, &win->origins))
		return false;
	origin->lkey = win->origins.lkey ? win->origins.lkey : origin_any_lkey(link, origin->length, get);
	return origin->lkey || origin->length <= WIRE_COPY_MAX;
}

/* Deregisters memory of operations that are complete, or lost with their peer. */
void release_epoch_mrs(struct oriel_win *win);

#endif
