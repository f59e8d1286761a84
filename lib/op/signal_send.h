// SPDX-License-Identifier: BSD-2-Clause
/* signal_send.h - a signal on its way to the target */
#ifndef ORIEL_SIGNAL_SEND_H
#define ORIEL_SIGNAL_SEND_H

struct oriel_win;
struct link;
struct op;

/*
 * Changes a signal of the target behind everything that was issued to it before. The caller holds
 * win->lock. Returns 0 or ISSUE_LATER. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int signal_issue(struct oriel_win *win, struct link *link, const struct op *op);

#endif
