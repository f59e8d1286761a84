// SPDX-License-Identifier: BSD-2-Clause
/*
 * issue.h - operations on their way to the wire
 *
 * The caller holds win->lock, which some calls give up while they wait.
 */
#ifndef ORIEL_ISSUE_H
#define ORIEL_ISSUE_H

#include <stdbool.h>
#include <stddef.h>

#include "win/link.h"
#include "win/operation.h"

struct oriel_win;

/*
 * The processor copies to or from mapped memory, at once. The flag behind it is a store with release
 * semantics, or a work request.
 */
void copy_mapped(struct oriel_win *win, const struct op *op);

/*
 * The device does it, at once and behind what was posted before, where there is nothing to wait for: gets; and
 * in lock epochs large puts, and the first small one after a flush, which another flush may follow. Those that
 * follow it instead travel together, as all do in other epochs with the flag. False: it has to be posted.
 */
bool copy_sync(struct link *link, const struct op *op);

/* Whether a put of so many bytes to memory that is not mapped fits the work request. */
static inline bool goes_inline(const struct link *link, size_t size_bytes)
{
	return size_bytes <= link->peer->wire.inline_max;
}

/* Such a put. ERRORS: ORIEL_ERR_PEER. */
static inline int issue_inline(struct link *link, const void *origin, size_t size_bytes, uint64_t addr)
{
	struct remote target = { addr, link->rkey };

	link->marks |= LINK_TOUCHED;
	return wire_put_inline(&link->peer->wire, origin, size_bytes, target, &link->last_number);
}

/* The same of any bytes that one message takes; lkey as origin_lkey says. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY. */
static inline int issue_message(struct link *link, enum op_kind kind, void *here, uint32_t lkey, size_t size_bytes,
                                uint64_t addr)
{
	struct remote target = { addr, link->rkey };

	link->marks |= kind == OP_PUT ? LINK_TOUCHED : LINK_TOUCHED | LINK_GOT;
	if (lkey)
		link->marks |= LINK_WAITING;
	if (kind == OP_PUT)
		return wire_put(&link->peer->wire, here, lkey, size_bytes, target, &link->last_number);
	return wire_get(&link->peer->wire, here, lkey, size_bytes, target, &link->last_number);
}

/* The error of what the wire has refused, for a public call. */
int issue_refused(const struct oriel_win *win, const struct link *link, int rc, const char *call);

/*
 * Put or get, to memory that has one key; all has been checked, and the epoch is open. ERRORS: as
 * issue_or_defer.
 */
int issue_at(struct oriel_win *win, struct link *link, const struct op *op);

/*
 * Issue an operation that has been checked, or defer it until the post. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_MEMORY.
 */
int issue_or_defer(struct oriel_win *win, struct link *link, const struct op *op, const char *call);

/* Not all could go out now, for want of room at the target: again later. */
#define ISSUE_LATER 1

/*
 * Issue the operations that were deferred for a link whose post has arrived. 0 or ISSUE_LATER.
 * ERRORS: as above.
 */
int issue_deferred(struct oriel_win *win, struct link *link);

/*
 * What is deferred for a link that is lost, or for all at the end of an epoch (link->deferred is
 * the caller's), is dropped.
 */
void issue_drop_deferred(struct oriel_win *win, struct link *link);
void issue_forget_deferred(struct oriel_win *win);

/*
 * Issue what is deferred for targets whose post has arrived since (P4); with `ring` it leaves now.
 */
void issue_push(struct oriel_win *win, bool ring);

/*
 * On the way of closing and flushing: what is deferred for a link goes out. 1 if nothing is
 * deferred any more, 0 while its post has not come, or ORIEL_ERR_PEER (no text), ORIEL_ERR_MEMORY.
 */
int issue_granted(struct oriel_win *win, struct link *link);

/* Whether issue_granted would find nothing to do; with NOCHECK a link may be granted before it is ready. */
static inline bool issue_is_granted(const struct link *link)
{
	return (link->marks & (LINK_ACCESS | LINK_GRANTED)) != LINK_ACCESS && link_state(link) == LINK_READY &&
	       !link->deferred && state_load(&link->peer->state) != PEER_DEAD; /* pairs with rank_died */
}

#endif
