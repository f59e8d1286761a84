// SPDX-License-Identifier: BSD-2-Clause
/* signal.c - oriel_signal: checks it, and issues or defers it in the order of the calls */
#include "base/err.h"
#include "op/enter.h"
#include "op/gate.h"
#include "op/issue.h"
#include "op/signal_send.h"
#include "op/target.h"
#include "win/link.h"
#include "win/win.h"

static int signal_locked(struct oriel_win *win, int rank, const struct op *op, const char *call)
{
	struct link *link;
	int rc = op_begin(win, rank, false, &link, call);

	if (rc)
		return rc;
	if (op->signal >= link_signal_count(link))
		return err_set(ORIEL_ERR_RANGE, "%s: %s: signal %u of rank %d, whose hint signals is %u", call, win->label,
		               op->signal, rank, link_signal_count(link));
	return issue_or_defer(win, link, op, call);
}

/* The fast path. Returns false if anything is unusual; nothing has happened. */
static inline bool signal_at_once(struct oriel_win *win, int rank, const struct op *op, int *rc)
{
	struct link *link = gate_link(win, rank);

	if (!link || link->route == ROUTE_NONE || op->signal >= link_signal_count(link))
		return false;
	gate_pass(win, link);
	*rc = signal_issue(win, link, op);
	return *rc != ISSUE_LATER;
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
	else if (!signal_at_once(win, target_rank, &issued, &rc))
		rc = signal_locked(win, target_rank, &issued, "oriel_signal");
	win_leave(win);
	return rc ? err_in(rc, "oriel_signal") : 0;
}
