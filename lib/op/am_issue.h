// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_issue.h - operations that their target applies
 *
 * DESIGN NOTES
 *
 * An operation goes to its target as active messages (am_codec.h, am/am_send.h), split at elements,
 * which a thread there (am/am_recv.h) applies by acc_apply_here (acc_route.h), in order (A15).
 *
 * Fence, flush and unlock wait until link_applied (win/link.h) says that the messages are applied
 * and their results here. Complete does not wait: its flag leaves behind the
 * messages, and the target's wait applies these first. The target checks range and access again.
 */
#ifndef ORIEL_AM_ISSUE_H
#define ORIEL_AM_ISSUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/acc.h"

struct am_message;
struct oriel_win;
struct link;

/*
 * Has the target apply an operation. The origin memory is free on return, unless the target reads
 * it: then, as the result is there, when link_applied returns true. The caller holds win->lock.
 * Returns 0, or ISSUE_LATER: there is no room for the rest, *acc, now. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_MEMORY.
 */
int am_issue(struct oriel_win *win, struct link *link, struct acc *acc);

/* Returns whether the target reads the operands. */
bool am_pulls(const struct link *link, const struct acc *acc);

/*
 * Returns whether messages are faster than system calls: the target polls, or has room and will
 * poll in the epoch's fence.
 */
bool am_issue_pays(struct link *link, size_t bytes);

/*
 * Has the target apply a list, which am_encode_list has made, on bytes of that span; errors name
 * `call`. The message's scatter is freed. Returns what am_issue does.
 */
int am_issue_list(struct oriel_win *win, struct link *link, struct am_message *message, struct acc_span span,
                  const char *call);

/*
 * Has the target add to one of its signals, which the origin has checked, behind everything that
 * was issued to it before: the message's stamp is placed behind puts and gets, and messages are
 * applied in order. Returns what am_issue does.
 */
int am_issue_add(struct oriel_win *win, struct link *link, uint32_t signal, uint64_t value);

#endif
