// SPDX-License-Identifier: BSD-2-Clause
/* acc_target.h - checking and issuing an accumulate operation, for single and vector forms */
#ifndef ORIEL_ACC_TARGET_H
#define ORIEL_ACC_TARGET_H

#include "op/acc.h"
#include "win/win.h"

int acc_refuse(const struct oriel_win *win, enum oriel_type type, enum oriel_op op, const char *call);

/* Returns the error of a wrong type or compare. */
int acc_refuse_swap(const struct oriel_win *win, enum oriel_type type, const char *call);

/*
 * Checks the window's handle, and that type and call have the operation: ORIEL_NO_OP needs a
 * result. ERRORS: ORIEL_ERR_HANDLE, ORIEL_ERR_OP.
 */
static inline int acc_check(const struct oriel_win *win, enum oriel_type type, enum oriel_op op, bool fetches,
                            const char *call)
{
	if (element_legal(op, type) && (op != ORIEL_NO_OP || fetches))
		return 0;
	return acc_refuse(win, type, op, call);
}

/*
 * Checks range and access at a described target, and sets acc->remote_addr. The caller holds
 * win->lock. ERRORS: ORIEL_ERR_RANGE, ORIEL_ERR_ACCESS.
 */
int acc_target(struct oriel_win *win, struct link *link, struct acc *acc, size_t disp, const char *call);

/* Issues or defers an operation that has been checked, as issue_or_defer does. */
int acc_issue_or_defer(struct oriel_win *win, struct link *link, struct acc *acc, const char *call);

#endif
