// SPDX-License-Identifier: BSD-2-Clause
/*
 * origin.c - the way of an operation: how its origin memory is used
 *
 * Memory of windows and oriel_mem_register is used as it is, other memory too where the device has a
 * key for all of it. Elsewhere it goes through the wire's ring or, above WIRE_COPY_MAX, is registered
 * until the epoch's operations are complete. Puts up to that size are copied in any case, but for bursts
 * to where the device moves bytes itself: who is to have the origin back need not wait for the target then.
 */
#include "win/origin.h"

#include "base/util.h"
#include "job/job.h"
#include "job/mem.h"
#include "win/win.h"

#define BURST_COPY_MAX 1024 /* bytes */

/* Origin memory. */

static struct ibv_mr *find_epoch_mr(const struct oriel_win *win, const struct device *device, const struct op *op)
{
	for (uint32_t i = win->epoch_mrs.reusable; i < win->epoch_mrs.count; i++) {
		const struct epoch_mr *found = &win->epoch_mrs.list[i];
		size_t offset = (uintptr_t)op->origin - (uintptr_t)found->mr->addr;

		if (found->device == device && offset < found->mr->length && found->mr->length - offset >= op->size_bytes)
			return found->mr;
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

void release_epoch_mrs(struct oriel_win *win)
{
	while (win->epoch_mrs.count > 0) {
		const struct epoch_mr *last = &win->epoch_mrs.list[--win->epoch_mrs.count];

		device_deregister(last->device, last->mr);
	}
	win->epoch_mrs.reusable = 0;
}

/*
 * The key of memory that is registered for this epoch only; 0 where that fails, and the wire copies
 * piece by piece.
 */
static uint32_t epoch_lkey(struct oriel_win *win, const struct device *device, const struct op *op)
{
	struct ibv_mr *mr = op->kind == OP_GET ? NULL : find_epoch_mr(win, device, op);

	if (mr)
		return mr->lkey;
	if (win->epoch_mrs.count == EPOCH_MRS_MAX) {
		wait_for_all_links(win);
		release_epoch_mrs(win);
	}
	if (!grow_array(&win->epoch_mrs.list, &win->epoch_mrs.capacity, win->epoch_mrs.count + 1,
	                sizeof(*win->epoch_mrs.list)))
		return 0;
	mr = device_register(device, op->origin, op->size_bytes, op->kind == OP_GET ? IBV_ACCESS_LOCAL_WRITE : 0);
	if (!mr)
		return 0;
	win->epoch_mrs.list[win->epoch_mrs.count++] = (struct epoch_mr){ device, mr };
	return mr->lkey;
}

/*
 * Puts of so many bytes are copied. Where the device moves bytes itself, as a rule at once, only the first one of an
 * epoch that is not small: it alone would have complete wait for an answer, and among others that costs less than the copies.
 */
static size_t copied_max(const struct link *link)
{
	bool burst = link->mapping == MAPPING_MOVED && (link->marks & LINK_TOUCHED);

	return burst ? BURST_COPY_MAX : WIRE_COPY_MAX;
}

enum way origin_way(struct oriel_win *win, const struct link *link, const struct op *op, uint32_t *lkey)
{
	const struct device *device = link->peer->device;
	const struct wire *wire = &link->peer->wire;

	*lkey = 0;
	if (op->kind == OP_PUT && op->size_bytes <= wire->inline_max)
		return WAY_INLINE;
	*lkey = mem_find(&win->job->mems, device->index, op->origin, op->size_bytes, op->kind == OP_GET, &win->origins);
	if (*lkey == 0 && (op->kind == OP_GET || op->size_bytes > copied_max(link)))
		*lkey = device_any_lkey(device, op->kind == OP_GET);
	if (*lkey == 0 && op->size_bytes > WIRE_COPY_MAX)
		*lkey = epoch_lkey(win, device, op);
	return *lkey ? WAY_REGISTERED : WAY_COPIED;
}
