// SPDX-License-Identifier: BSD-2-Clause
/*
 * issue.h - operations on their way to the wire
 *
 * The caller holds win->lock, which some calls give up while they wait.
 */
#ifndef ORIEL_ISSUE_H
#define ORIEL_ISSUE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "win/link.h"
#include "win/operation.h"

struct oriel_win;

/* Put and get by the device. */

/* The target's side of a put or get. */
struct transfer {
	uint64_t addr; /* ROUTE_MAP: an address here */
	uint32_t rkey;
	uint8_t route; /* enum link_route, not ROUTE_REGIONS */
	uint8_t kind;  /* OP_PUT or OP_GET */
};

static_assert(sizeof(struct transfer) <= 2 * sizeof(uint64_t), "a transfer travels in two registers");

static inline struct transfer transfer_of(const struct link *link, uint64_t addr, enum op_kind kind)
{
	return (struct transfer){ addr, link->rkey, link->route, (uint8_t)kind };
}

/*
 * Puts or gets by ROUTE_RDMA. The caller holds win->lock, and has checked all. ERRORS:
 * ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int transfer_rdma(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t);

/*
 * Puts or gets by ROUTE_SYNC: at once, or by work requests if the device cannot or it is not worth
 * it. The caller holds win->lock, and has checked all. ERRORS: as transfer_rdma.
 */
int transfer_sync(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t);

/*
 * Puts or gets between `here` and a target. All has been checked, and the epoch is open. ERRORS: as
 * issue_or_defer.
 */
int issue_to(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t);

/*
 * Issues an operation that has been checked, or defers it until the target grants access. ERRORS:
 * ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int issue_or_defer(struct oriel_win *win, struct link *link, const struct op *op, const char *call);

/* Returned when the target has no room for all: the caller tries again. */
#define ISSUE_LATER 1

/*
 * Changes a signal of the target behind everything that was issued to it before. The caller holds
 * win->lock. Returns 0 or ISSUE_LATER. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int signal_issue(struct oriel_win *win, struct link *link, const struct op *op);

/*
 * Issues what is deferred for a link that has granted access. Returns 0 or ISSUE_LATER. ERRORS: as
 * above.
 */
int issue_deferred(struct oriel_win *win, struct link *link);

/*
 * Drops what is deferred for a lost link; or (_forget) for all links at the end of an epoch, whose
 * caller clears link->deferred.
 */
void issue_drop_deferred(struct oriel_win *win, struct link *link);
void issue_forget_deferred(struct oriel_win *win);

/* Issues what is deferred for targets whose post has arrived since (P4); `ring`: it leaves now. */
void issue_push(struct oriel_win *win, bool ring);

/* The general path of issue_granted. */
int issue_granted_any(struct oriel_win *win, struct link *link);

/*
 * Issues what is deferred for a link, once it has granted access. Returns 1 if nothing is deferred
 * any more, else 0. ERRORS: ORIEL_ERR_PEER (no text), ORIEL_ERR_MEMORY.
 */
static inline int issue_granted(struct oriel_win *win, struct link *link)
{
	if ((link->marks & (LINK_ACCESS | LINK_GRANTED)) != LINK_ACCESS && !link->deferred &&
	    link_state(link) == LINK_READY && state_load(&link->peer->state) != PEER_DEAD) /* pairs with rank_lost */
		return 1;
	return issue_granted_any(win, link); /* with NOCHECK a link is granted before it is ready */
}

#endif
