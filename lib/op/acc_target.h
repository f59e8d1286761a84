// SPDX-License-Identifier: BSD-2-Clause
/*
 * acc_target.h - checks of an accumulate operation, and its way out
 *
 * What the plain and the vector forms have in common.
 */
#ifndef ORIEL_ACC_TARGET_H
#define ORIEL_ACC_TARGET_H

#include "op/acc.h"
#include "win/win.h"

int acc_refuse(const struct oriel_win *win, enum oriel_type type, enum oriel_op op, const char *call);

/*
 * The window's handle; that the type has the operation, and the call takes it: one without a result
 * has no use for ORIEL_NO_OP. ERRORS: ORIEL_ERR_HANDLE, ORIEL_ERR_OP.
 */
static inline int acc_check(const struct oriel_win *win, enum oriel_type type, enum oriel_op op, bool fetches,
                            const char *call)
{
	if (element_legal(op, type) && (op != ORIEL_NO_OP || fetches))
		return 0;
	return acc_refuse(win, type, op, call);
}

/*
 * Range and access at a described target, of which acc->remote_addr is set. The caller holds
 * win->lock. ERRORS: ORIEL_ERR_RANGE, ORIEL_ERR_ACCESS.
 */
int acc_target(struct oriel_win *win, struct link *link, struct acc *acc, size_t disp, const char *call);

/* As issue_or_defer. */
int acc_issue_or_defer(struct oriel_win *win, struct link *link, struct acc *acc, const char *call);

#endif
