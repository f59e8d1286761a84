// SPDX-License-Identifier: BSD-2-Clause
/*
 * target.h - checks of an operation's target: epoch, rank, range, access
 *
 * The caller holds win->lock.
 */
#ifndef ORIEL_TARGET_H
#define ORIEL_TARGET_H

#include <stdbool.h>

#include "base/order.h"
#include "win/link.h"
#include "win/operation.h"
#include "win/win.h"

int no_epoch(struct oriel_win *win, int rank, const char *call);

/*
 * Finds the link to a target that the open epoch names. ERRORS: ORIEL_ERR_RANK, ORIEL_ERR_SYNC,
 * ORIEL_ERR_MEMORY.
 */
int op_link(struct oriel_win *win, int rank, struct link **link, const char *call);

/*
 * Checks epoch and rank, and, unless the operation is empty, finds a described and living target,
 * which may have to be waited for (D4).
 */
int op_begin(struct oriel_win *win, int rank, bool empty, struct link **link, const char *call);

/* Returns whether size_bytes at disp lie in the member's memory; *offset is where they begin. */
static inline bool in_range(const struct link *link, size_t disp, size_t size_bytes, uint64_t *offset)
{
	return size_bytes <= link->size_bytes && !__builtin_mul_overflow(disp, link->disp_unit_bytes, offset) &&
	       *offset <= link->size_bytes - size_bytes;
}

/* Returns the link of a living target if the first look-up finds it; else NULL. */
static inline struct link *living_link(const struct oriel_win *win, int rank)
{
	struct link *link;

	if (!link_find_first(win, rank, &link) || !link)
		return NULL;
	return state_load(&link->peer->state) == PEER_DEAD ? NULL : link; /* pairs with rank_lost */
}

/*
 * Computes op->remote_addr of op->size_bytes > 0 at disp. In a dynamic window it may have to ask
 * the member, and link->read_only is about these bytes. ERRORS: ORIEL_ERR_RANGE; of a dynamic
 * window ORIEL_ERR_PEER, ORIEL_ERR_MEMORY, too.
 */
int op_range(struct oriel_win *win, struct link *link, struct op *op, size_t disp, const char *call);

/* Checks that a put may write the target's memory. ERRORS: ORIEL_ERR_ACCESS. */
int op_access(const struct oriel_win *win, const struct link *link, enum op_kind kind, const char *call);

#endif
