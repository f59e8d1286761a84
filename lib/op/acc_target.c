// SPDX-License-Identifier: BSD-2-Clause
/* See acc_target.h. */
#include "op/acc_target.h"

#include "base/err.h"
#include "op/acc_route.h"
#include "op/acc_device.h"
#include "op/issue.h"
#include "op/target.h"

int acc_refuse(const struct oriel_win *win, enum oriel_type type, enum oriel_op op, const char *call)
{
	int rc = win_check(win, call);

	if (rc)
		return rc;
	if (element_legal(op, type))
		return err_set(ORIEL_ERR_OP,
		               "%s: %s: ORIEL_NO_OP changes and returns nothing here; oriel_get_accumulate and "
		               "oriel_fetch_and_op read",
		               call, win->label);
	return err_set(ORIEL_ERR_OP, "%s: %s: operation %s (%d) is not defined for elements of type %s (%d)", call,
	               win->label, element_op_name(op), (int)op, element_type_name(type), (int)type);
}

int acc_refuse_swap(const struct oriel_win *win, enum oriel_type type, const char *call)
{
	int rc = win_check(win, call);

	if (rc)
		return rc;
	if (element_comparable(type))
		return err_set(ORIEL_ERR_ARG, "%s: %s: compare is NULL", call, win->label);
	return err_set(ORIEL_ERR_OP, "%s: %s: elements of type %s (%d) cannot be compared; integers and ORIEL_BOOL can",
	               call, win->label, element_type_name(type), (int)type);
}

int acc_target(struct oriel_win *win, struct link *link, struct acc *acc, size_t disp, const char *call)
{
	struct op op = { .kind = OP_ACCUMULATE };
	int rc;

	if (__builtin_mul_overflow(acc->count, element_types[acc->type].size_bytes, &op.size_bytes))
		op.size_bytes = SIZE_MAX;
	else
		op.size_bytes = element_span(acc->type, acc->count);
	rc = op_range(win, link, &op, disp, call);
	acc->remote_addr = op.remote_addr;
	return rc || acc->op == ORIEL_NO_OP ? rc : op_access(win, link, OP_PUT, call);
}

int acc_issue_or_defer(struct oriel_win *win, struct link *link, struct acc *acc, const char *call)
{
	struct op op = { .kind = OP_ACCUMULATE, .origin = acc, .size_bytes = 1 };
	bool by_device = acc_route(link, acc->type, acc->remote_addr, acc->count) == ACC_ROUTE_DEVICE;
	int rc = by_device ? acc_connect_device(win, link, call) : 0;

	if (rc)
		return rc;
	return issue_or_defer(win, link, &op, call);
}
