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
#include <stdint.h>

#include "win/link.h"
#include "op/rdma.h"
#include "win/operation.h"

struct oriel_win;

/*
 * Put or get between `here` and a target; all has been checked, and the epoch is open. ERRORS: as
 * issue_or_defer.
 */
int issue_to(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t);

/* The error of what the wire has refused, for a public call. */
int issue_refused(const struct oriel_win *win, const struct link *link, int rc, const char *call);

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

/*
 * Whether issue_granted would find nothing to do; with NOCHECK a link may be granted before it is
 * ready.
 */
static inline bool issue_is_granted(const struct link *link)
{
	return (link->marks & (LINK_ACCESS | LINK_GRANTED)) != LINK_ACCESS && link_state(link) == LINK_READY &&
	       !link->deferred && state_load(&link->peer->state) != PEER_DEAD; /* pairs with rank_lost */
}

#endif
