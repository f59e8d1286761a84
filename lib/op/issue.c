// SPDX-License-Identifier: BSD-2-Clause
/*
 * issue.c - operations go out, or are held back until the target's post has been seen
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
#define LENT_COPY_BYTES ((size_t)128 << 10)

/* Issuing. */

static int issue_message(struct link *link, const struct op *op, uint32_t lkey, size_t done, size_t size_bytes)
{
	struct remote target = { op->remote_addr + done, link->rkey };
	uint8_t *origin = (uint8_t *)op->origin + done;
	bool copied = true;
	int rc;

	if (op->kind == OP_GET)
		rc = wire_get(&link->peer->wire, origin, lkey, size_bytes, target, &link->last_number);
	else
		rc = wire_put(&link->peer->wire, origin, lkey, size_bytes, target, &copied, &link->last_number);
	if (!copied)
		link->marks |= LINK_WAITING;
	return rc;
}

/*
 * Lent memory: the processor does it, at once; the flag behind it is a store with release
 * semantics, or a work request.
 */
void copy_lent(const struct op *op)
{
	uint8_t *target = (uint8_t *)(uintptr_t)op->remote_addr;
	uint8_t *to = op->kind == OP_GET ? op->origin : target;
	const uint8_t *from = op->kind == OP_GET ? target : op->origin;

	if (op->size_bytes == sizeof(uint64_t)) {
		memcpy(to, from, sizeof(uint64_t)); /* one store, as a device places a word */
		return;
	}
	for (size_t done = 0; done < op->size_bytes; done += LENT_COPY_BYTES)
		memcpy(to + done, from + done, min_size(op->size_bytes - done, LENT_COPY_BYTES));
}

/* Send an operation in messages no larger than the port's largest (D5), or than the wire copies. */
static int issue_messages(struct oriel_win *win, struct link *link, const struct op *op)
{
	uint32_t lkey = origin_lkey(win, link, op);
	size_t largest = (size_t)link->peer->wire.max_message_bytes;
	int rc = 0;

	if (lkey == 0 && !link->peer->wire.self)
		largest = min_size(largest, WIRE_COPY_MAX);
	link->marks |= op->kind == OP_GET ? LINK_TOUCHED | LINK_GOT : LINK_TOUCHED;
	for (size_t done = 0; rc == 0 && done < op->size_bytes; done += min_size(largest, op->size_bytes - done))
		rc = issue_message(link, op, lkey, done, min_size(largest, op->size_bytes - done));
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc;
}

static int issue(struct oriel_win *win, struct link *link, const struct op *op)
{
	if (!(link->marks & LINK_ACCESS))
		win->sync |= SYNC_FENCE_USED;
	if (!link->lent)
		return issue_messages(win, link, op);
	copy_lent(op);
	return 0;
}

/* Index + 1 of a free entry, or 0 when the bound or memory is reached. */
static uint32_t held_entry(struct oriel_win *win)
{
	uint32_t entry = win->held_free;

	if (entry) {
		win->held_free = win->held[entry - 1].next;
		return entry;
	}
	if (win->held_count == HELD_MAX ||
	    !grow_array(&win->held, &win->held_capacity, win->held_count + 1, sizeof(*win->held)))
		return 0;
	return ++win->held_count;
}

/* Holding back. */

static bool hold(struct oriel_win *win, struct link *link, const struct op *op)
{
	uint32_t entry = held_entry(win);

	if (!entry)
		return false;
	win->held[entry - 1] = (struct held){ .op = *op, .next = link->held };
	link->held = entry;
	return true;
}

int issue_held(struct oriel_win *win, struct link *link)
{
	int rc = 0;

	while (rc == 0 && link->held) {
		struct held *held = &win->held[link->held - 1];
		uint32_t entry = link->held;

		rc = issue(win, link, &held->op);
		if (rc == ORIEL_ERR_MEMORY)
			return rc;
		link->held = held->next;
		held->next = win->held_free;
		win->held_free = entry;
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
