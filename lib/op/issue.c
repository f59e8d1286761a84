// SPDX-License-Identifier: BSD-2-Clause
/*
 * issue.c - operations go out, or are held back until the target's post has been seen
 *
 * THE WAY OF A PUT
 *
 *  1. oriel_put (op/put.c) takes win->lock (op/enter.h) and, where all is plain and the target's
 *     memory is mapped here, copies at once: the end for most puts on softverbs and to oneself.
 *  2. Otherwise op/target.c finds the link that the open epoch names (win/epoch.h has the table of
 *     what is legal), waits for its description at first contact, and checks the range.
 *  3. issue_or_hold, below: without the target's post the operation is held back; issue_push and
 *     issue_granted let it go when the post has come.
 *  4. issue chooses the way, with win/origin.c: mapped (the processor copies), inline (the bytes go
 *     into the work request), copied (through the wire's ring), registered (the device reads the
 *     origin memory itself). Only the last makes complete wait (LINK_WAITING).
 *  5. wire_put (verbs/wire.c) fills a work request in the batch. It leaves with the next flag or
 *     flush, when the batch is full, or at once if it is large: one doorbell for many.
 *  6. oriel_win_complete (epoch/access.c) writes the flag behind it, in the same list.
 *
 * A get goes the same way; it lands in the ring or in the origin memory, and is waited for before
 * the flag.
 */
#include "op/issue.h"

#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "job/wait.h"
#include "win/link.h"
#include "win/origin.h"
#include "win/win.h"

/* Bytes that memcpy is given at a time: of a megabyte it takes another way, which is 15 % slower between two caches. */
#define COPY_BYTES ((size_t)128 << 10)

/*
 * Lent memory: the processor does it, at once; the flag behind it is a store with release
 * semantics, or a work request.
 */
void copy_mapped(const struct op *op)
{
	uint8_t *target = (uint8_t *)(uintptr_t)op->remote_addr;
	uint8_t *to = op->kind == OP_GET ? op->origin : target;
	const uint8_t *from = op->kind == OP_GET ? target : op->origin;

	if (op->size_bytes == sizeof(uint64_t)) {
		memcpy(to, from, sizeof(uint64_t)); /* one store, as a device places a word */
		return;
	}
	for (size_t done = 0; done < op->size_bytes; done += COPY_BYTES)
		memmove(to + done, from + done, min_size(op->size_bytes - done, COPY_BYTES));
}

/* Send an operation in messages of at most largest_bytes (D5). */
static int issue_messages(struct oriel_win *win, struct link *link, const struct op *op, enum way way, uint32_t lkey,
                          size_t largest_bytes)
{
	struct wire *wire = &link->peer->wire;
	int rc = 0;

	for (size_t done = 0, bytes; rc == 0 && done < op->size_bytes; done += bytes) {
		struct remote target = { op->remote_addr + done, link->rkey };
		uint8_t *origin = (uint8_t *)op->origin + done;

		bytes = min_size(largest_bytes, op->size_bytes - done);
		if (op->kind == OP_PUT)
			rc = wire_put(wire, way, origin, lkey, bytes, target, &link->last_number);
		else
			rc = wire_get(wire, way, origin, lkey, bytes, target, &link->last_number);
	}
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc;
}

/* An operation whose time has come: the one place where its way is chosen. */
static int issue(struct oriel_win *win, struct link *link, const struct op *op)
{
	size_t largest_bytes = (size_t)link->peer->wire.max_message_bytes;
	uint32_t lkey;
	enum way way = origin_way(win, link, op, &lkey);

	if (!(link->marks & LINK_ACCESS))
		win->sync |= SYNC_FENCE_USED;
	if (way == WAY_MAPPED) {
		copy_mapped(op);
		return 0;
	}
	link->marks |= op->kind == OP_GET ? LINK_TOUCHED | LINK_GOT : LINK_TOUCHED;
	if (way == WAY_REGISTERED)
		link->marks |= LINK_WAITING;
	else
		largest_bytes = min_size(largest_bytes, WIRE_COPY_MAX);
	return issue_messages(win, link, op, way, lkey, largest_bytes);
}

/* Index + 1 of a free entry, or 0 when the bound or memory is reached. */
static uint32_t held_entry(struct oriel_win *win)
{
	uint32_t entry = win->held.free;

	if (entry) {
		win->held.free = win->held.list[entry - 1].next;
		return entry;
	}
	if (win->held.count == HELD_MAX ||
	    !grow_array(&win->held.list, &win->held.capacity, win->held.count + 1, sizeof(*win->held.list)))
		return 0;
	return ++win->held.count;
}

/* Holding back. */

static bool hold(struct oriel_win *win, struct link *link, const struct op *op)
{
	uint32_t entry = held_entry(win);

	if (!entry)
		return false;
	win->held.list[entry - 1] = (struct held){ .op = *op, .next = link->held };
	link->held = entry;
	return true;
}

int issue_held(struct oriel_win *win, struct link *link)
{
	int rc = 0;

	while (rc == 0 && link->held) {
		struct held *held = &win->held.list[link->held - 1];
		uint32_t entry = link->held;

		rc = issue(win, link, &held->op);
		if (rc == ORIEL_ERR_MEMORY)
			return rc;
		link->held = held->next;
		held->next = win->held.free;
		win->held.free = entry;
	}
	return rc;
}

int issue_granted(struct oriel_win *win, struct link *link)
{
	int rc;

	if (link_lost(link))
		return link_let_go(link);
	if (!(link->marks & LINK_ACCESS))
		return 1;
	if (!link_grant(win, link)) {
		wait_serve(win->job, link->peer);
		return 0;
	}
	rc = issue_held(win, link);
	return rc ? rc : 1;
}

/* Too much is held back: wait for this target's post, which lets what is held for it go. The lock is given up. */
static int wait_grant(struct oriel_win *win, struct link *link, const char *call)
{
	struct link_wait waiting = { win, link };
	struct wait wait;
	int rc;

	wait_begin(&wait, win->job, call, win);
	owned_lock_give(&win->lock);
	rc = wait_until(&wait, &link_granted, &waiting);
	owned_lock_take(&win->lock);
	return rc ? rc : issue_held(win, link);
}

int issue_or_hold(struct oriel_win *win, struct link *link, const struct op *op, const char *call)
{
	int rc;

	if (op->size_bytes == 0)
		return 0;
	if ((link->marks & LINK_ACCESS) && !link_grant(win, link)) {
		if (hold(win, link, op))
			return 0;
		rc = wait_grant(win, link, call);
		if (rc)
			return rc;
	}
	return issue(win, link, op);
}

void issue_push(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->access.count; i++) {
		struct link *link = win->access.links[i];

		if (!link->held || !link_grant(win, link))
			continue;
		issue_held(win, link);        /* an error is the peer's death, which complete will tell */
		wire_ring(&link->peer->wire); /* nobody knows when the next call comes */
	}
}
