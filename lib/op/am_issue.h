// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_issue.h - operations that their target applies
 *
 * DESIGN NOTES
 *
 * What no processor or device can change at the target from here is sent there, as active messages
 * (am_codec.h) in a ring (am/am_send.h), and applied by a thread of the target that waits in a
 * call, or by its service thread (am/am_recv.h): the call puts no message but the data, and what
 * is applied leaves nothing locked when somebody dies.
 *
 * An operation longer than a message is split at elements. Messages of one origin are applied in
 * the order in which they were sent (A15). What the target applies goes through acc_apply_here like
 * its own operations (acc_route.h), so that an element has one mechanism.
 *
 * Complete, fence, flush and unlock mean for messages what they mean for puts: link_applied
 * (win/link.h) says that the target has applied them and that their results are here. Complete does
 * not wait for that: its flag leaves behind the messages, and the target's wait applies what lies
 * before the flag.
 *
 * The origin has checked range and access; the target does again, since an active message comes
 * from outside. A message for a window that is not there (any more), or that makes no sense, is
 * refused.
 */
#ifndef ORIEL_AM_ISSUE_H
#define ORIEL_AM_ISSUE_H

#include <stdint.h>

#include "op/acc.h"

struct oriel_win;
struct link;

/*
 * Have the target apply an operation; the origin memory is free on return, the result comes when
 * link_applied says so. The caller holds win->lock. 0, or ISSUE_LATER: there is no room for all of
 * it now, *acc has become the rest. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int am_issue(struct oriel_win *win, struct link *link, struct acc *acc);

/*
 * Has the target apply a list of operations, of one type and operation, with as few messages as
 * they fit into; errors name `call`. Only for windows of one piece of memory. Returns the number of
 * operations, from the first on, that are on their way: the others are not for a list, or there is
 * no room now. ERRORS: as am_issue.
 */
int am_issue_list(struct oriel_win *win, struct link *link, const struct acc accs[], uint32_t count, const char *call);

/*
 * Have the target add to one of its signals, which the origin has checked, behind everything issued
 * to it before: the message's stamp is placed behind puts, as a flag, and behind gets under way;
 * and messages are applied in order. The rest as am_issue.
 */
int am_issue_add(struct oriel_win *win, struct link *link, uint32_t signal, uint64_t value);

#endif
