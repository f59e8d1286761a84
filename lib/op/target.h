// SPDX-License-Identifier: BSD-2-Clause
/*
 * target.h - checks of an operation's target: epoch, rank, range, access
 *
 * The caller holds win->lock.
 */
#ifndef ORIEL_TARGET_H
#define ORIEL_TARGET_H

#include <stdbool.h>

#include "win/link.h"
#include "win/operation.h"

/* The error for an operation to a rank that no open epoch names. */
int no_epoch(struct oriel_win *win, int rank, const char *call);

/* The link to a target that the open epoch names. ERRORS: ORIEL_ERR_RANK, ORIEL_ERR_SYNC, ORIEL_ERR_MEMORY. */
int op_link(struct oriel_win *win, int rank, struct link **link, const char *call);

/*
 * Epoch, rank, and unless there is nothing to move, a described and living target, which may have to
 * be waited for (D4).
 */
int op_begin(struct oriel_win *win, int rank, bool empty, struct link **link, const char *call);

/* Whether size_bytes at disp lie in the member's memory, without overflow; *offset is how far in. */
static inline bool in_range(const struct link *link, size_t disp, size_t size_bytes, uint64_t *offset)
{
	return size_bytes <= link->size_bytes && !__builtin_mul_overflow(disp, link->disp_unit_bytes, offset) &&
	       *offset <= link->size_bytes - size_bytes;
}

/* The target address of size_bytes at disp. ERRORS: ORIEL_ERR_RANGE. */
int op_range(const struct oriel_win *win, const struct link *link, size_t disp, size_t size_bytes, uint64_t *addr,
             const char *call);

/* Whether the target's memory may be written, for a put. ERRORS: ORIEL_ERR_ACCESS. */
int op_access(const struct oriel_win *win, const struct link *link, enum op_kind kind, const char *call);

#endif
