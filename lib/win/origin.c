// SPDX-License-Identifier: BSD-2-Clause
/*
 * origin.c - the way of an operation: how its origin memory is used
 *
 * Memory of windows and oriel_mem_register is used as it is, other memory too where the device has
 * a key for all of it. Elsewhere it goes through the wire's ring or, above WIRE_COPY_MAX, is
 * registered until the epoch's operations are complete, or longer where the system tells when it is
 * mapped anew. Puts up to that size are copied in any case, but for bursts to where the device
 * moves bytes itself: who is to have the origin back need not wait for the target then.
 */
#include "win/origin.h"

#include "base/util.h"
#include "verbs/mr_cache.h"
#include "win/win.h"

/* Origin memory. */

/*
 * Only what operations have named counts, not what else a registration holds: that may have been
 * mapped anew meanwhile.
 */
static const struct epoch_mr *find_epoch_mr(const struct oriel_win *win, const struct epoch_mr *wanted)
{
	for (uint32_t i = win->epoch_mrs.count; i-- > win->epoch_mrs.reusable;) {
		const struct epoch_mr *found = &win->epoch_mrs.list[i];
		size_t offset = (uintptr_t)wanted->base - (uintptr_t)found->base;

		if (found->device == wanted->device && offset < found->size_bytes &&
		    found->size_bytes - offset >= wanted->size_bytes && (found->write || !wanted->write))
			return found;
	}
	return NULL;
}

/*
 * Wait until nothing of this window is under way. Bounded by the device's retries: requests
 * complete, or the wire breaks.
 */
static void wait_for_all_links(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		struct link *link = win->links.table[i];

		if (link && (link->marks & LINK_TOUCHED))
			wire_wait(&link->peer->wire, link->last_number);
	}
}

static void release(const struct epoch_mr *used)
{
	if (used->kept)
		mr_cache_give(used->device->cache, used->kept);
	else
		device_deregister(used->device, used->mr);
}

void release_epoch_mrs(struct oriel_win *win)
{
	while (win->epoch_mrs.count > 0)
		release(&win->epoch_mrs.list[--win->epoch_mrs.count]);
	win->epoch_mrs.reusable = 0;
}

/* Of the registration that is kept, or one that is made for the epoch; false: neither can be. */
static bool fill_epoch_mr(struct epoch_mr *used, void *origin)
{
	const struct device *device = used->device;

	used->kept = mr_cache_take(device->cache, origin, used->size_bytes, used->write);
	if (used->kept) {
		used->lkey = mr_cache_lkey(used->kept);
		return true;
	}
	used->mr = device_register(device, origin, used->size_bytes, used->write ? IBV_ACCESS_LOCAL_WRITE : 0);
	used->lkey = used->mr ? used->mr->lkey : 0;
	return used->mr;
}

/*
 * Behind a flush the last one is the next to be used again, if it is of the same registration: a
 * program that puts and flushes in turns does not fill the list.
 */
static bool replaces_last(struct epoch_mrs *mrs, const struct epoch_mr *used)
{
	struct epoch_mr *last = mrs->count > 0 ? &mrs->list[mrs->count - 1] : NULL;

	if (!last || mrs->reusable < mrs->count || !used->kept || last->kept != used->kept)
		return false;
	release(last);
	*last = *used;
	mrs->reusable = mrs->count - 1;
	return true;
}

uint32_t origin_epoch_lkey(struct oriel_win *win, const struct link *link, void *origin, size_t size_bytes, bool get)
{
	struct epoch_mr used = {
		.device = link->peer->device, .base = origin, .size_bytes = size_bytes, .write = get
	};
	const struct epoch_mr *found = find_epoch_mr(win, &used);

	if (found)
		return found->lkey;
	if (win->epoch_mrs.count == EPOCH_MRS_MAX) {
		wait_for_all_links(win);
		release_epoch_mrs(win);
	}
	if (!grow_array(&win->epoch_mrs.list, &win->epoch_mrs.capacity, win->epoch_mrs.count + 1,
	                sizeof(*win->epoch_mrs.list)) ||
	    !fill_epoch_mr(&used, origin))
		return 0;
	if (!replaces_last(&win->epoch_mrs, &used))
		win->epoch_mrs.list[win->epoch_mrs.count++] = used;
	return used.lkey;
}
