// SPDX-License-Identifier: BSD-2-Clause
/* signal.c - oriel_signal: checks it, and issues or defers it in the order of the calls */
#include "base/err.h"
#include "op/enter.h"
#include "op/gate.h"
#include "op/issue.h"
#include "op/target.h"
#include "win/link.h"
#include "win/win.h"

/* The general path. */
static int signal_any(struct oriel_win *win, int rank, const struct op *op, const char *call)
{
	struct link *link;
	int rc = op_begin(win, rank, false, &link, call);

	if (rc)
		return rc;
	if (op->signal >= link_signal_count(link))
		return err_set(ORIEL_ERR_RANGE,
		               "%s: %s: signal %u of rank %d, which has %u signals; the hint signals sets their number", call,
		               win->label, op->signal, rank, link_signal_count(link));
	return issue_or_defer(win, link, op, call);
}

/* Returns the target's link if the signal may go out now. */
static inline struct link *pass(struct oriel_win *win, int rank, const struct op *op)
{
	struct link *link = gate_link(win, rank);

	if (!link || link->route == ROUTE_NONE || op->signal >= link_signal_count(link))
		return NULL;
	gate_pass(win, link);
	return link;
}

static int signal_held(struct oriel_win *win, int rank, const struct op *op, const char *call)
{
	struct link *link = pass(win, rank, op);
	int rc = link ? signal_issue(win, link, op) : ISSUE_LATER;

	return rc == ISSUE_LATER ? signal_any(win, rank, op, call) : rc;
}

int oriel_signal(oriel_win *win, int target_rank, uint32_t signal, uint64_t value, enum oriel_signal_op op)
{
	struct op issued = { .kind = op == ORIEL_SIGNAL_ADD ? OP_SIGNAL_ADD : OP_SIGNAL_SET,
		                 .value = value,
		                 .size_bytes = sizeof(value),
		                 .signal = signal };
	int rc = win_enter(win, "oriel_signal");

	if (rc)
		return rc;
	if (op != ORIEL_SIGNAL_SET && op != ORIEL_SIGNAL_ADD)
		rc = err_set(ORIEL_ERR_ARG, "oriel_signal: %s: operation %d, must be ORIEL_SIGNAL_SET or ORIEL_SIGNAL_ADD",
		             win->label, (int)op);
	else
		rc = signal_held(win, target_rank, &issued, "oriel_signal");
	win_leave(win);
	return rc ? err_in(rc, "oriel_signal") : 0;
}
