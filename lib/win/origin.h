// SPDX-License-Identifier: BSD-2-Clause
/* origin.h - origin memory: registered already, registered for an epoch, or copied */
#ifndef ORIEL_ORIGIN_H
#define ORIEL_ORIGIN_H

#include <stdint.h>

#include "job/job.h"
#include "job/mem.h"
#include "win/link.h"
#include "win/operation.h"
#include "win/win.h"

/*
 * The key of the origin memory of an operation by the wire; 0: it is copied, in pieces if it is not small. Memory
 * that is neither registered nor small is registered for the epoch, unless that fails. The caller holds win->lock.
 */
uint32_t origin_lkey(struct oriel_win *win, const struct link *link, const struct op *op);

#define BURST_COPY_MAX 1024 /* bytes */

/*
 * Puts of so many bytes are copied. Where the device moves bytes itself, as a rule at once, only the first one of an
 * epoch that is not small: it alone would have complete wait for an answer, and among others that costs less than the copies.
 */
static inline size_t origin_copied_max(const struct link *link)
{
	bool burst = link->mapping == MAPPING_MOVED && (link->marks & LINK_TOUCHED);

	return burst ? BURST_COPY_MAX : WIRE_COPY_MAX;
}

/*
 * The same where nothing has to be registered for it: memory of windows and oriel_mem_register, or any where the device
 * has a key for all. A put that is copied needs no such key: who is to have the origin back need not wait then.
 */
static inline uint32_t origin_known_lkey(struct oriel_win *win, const struct link *link, const void *origin,
                                         size_t size_bytes, bool get)
{
	const struct device *device = link->peer->device;
	uint32_t lkey = mem_find(&win->job->mems, device->index, origin, size_bytes, get, &win->origins);

	return lkey == 0 && (get || size_bytes > origin_copied_max(link)) ? device_any_lkey(device, get) : lkey;
}

/* Deregister what was registered for operations that are now complete, or lost with their peer. */
void release_epoch_mrs(struct oriel_win *win);

#endif
