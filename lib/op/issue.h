// SPDX-License-Identifier: BSD-2-Clause
/*
 * issue.h - operations on their way to the wire
 *
 * The caller holds win->lock, which some calls give up while they wait.
 */
#ifndef ORIEL_ISSUE_H
#define ORIEL_ISSUE_H

#include <stdbool.h>

#include "win/operation.h"

struct oriel_win;
struct link;

/* The processor does it, at once: the target's memory is mapped here. */
void copy_mapped(const struct op *op);

/*
 * The device does it, at once and behind what was posted before, where there is nothing to wait for: gets; and
 * in lock epochs large puts, and the first small one after a flush, which another flush may follow. Those that
 * follow it instead travel together, as all do in other epochs with the flag. False: it has to be posted.
 */
bool move_at_once(struct link *link, const struct op *op);

/* Issue an operation that has been checked, or hold it back until the post. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY. */
int issue_or_hold(struct oriel_win *win, struct link *link, const struct op *op, const char *call);

/* Not all could go out now, for want of room at the target: again later. */
#define ISSUE_LATER 1

/* Issue the operations that were held back for a link whose post has arrived. 0 or ISSUE_LATER. ERRORS: as above. */
int issue_held(struct oriel_win *win, struct link *link);

/* What is held back for a link that is lost, or for all at the end of an epoch (link->held is the caller's), is dropped. */
void issue_drop_held(struct oriel_win *win, struct link *link);
void issue_forget_held(struct oriel_win *win);

/* Issue what is held back for targets whose post has arrived since (P4). */
void issue_push(struct oriel_win *win);

/*
 * On the way of closing and flushing: what is held back for a link goes out. 1 if nothing is held
 * any more, 0 while its post has not come, or ORIEL_ERR_PEER (no text), ORIEL_ERR_MEMORY.
 */
int issue_granted(struct oriel_win *win, struct link *link);

#endif
