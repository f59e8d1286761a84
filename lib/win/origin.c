// SPDX-License-Identifier: BSD-2-Clause
/*
 * origin.c - how the origin memory of an operation is used
 *
 * Memory of windows and of oriel_mem_register is used directly, as is all memory if the device has
 * a key for it. Puts up to WIRE_COPY_MAX are copied, so that they complete locally at once. Other
 * memory is registered for the epoch, or longer where the kernel reports remapping; short gets go
 * through the wire's bounce buffer.
 */
#include "win/origin.h"

#include "base/util.h"
#include "verbs/mr_cache.h"
#include "win/win.h"

/* Origin memory. */

/* Compares only the memory that operations have named: the rest may have been remapped. */
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

/* Waits for all requests of this window. The device's retries bound the wait. */
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

/* Takes the key from the registration cache, or registers for the epoch; false: both fail. */
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
 * After a flush, a use of the last entry's registration replaces that entry: alternating puts and
 * flushes do not fill the list.
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
