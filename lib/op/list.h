// SPDX-License-Identifier: BSD-2-Clause
/*
 * list.h - operations of one call that go out together
 *
 * DESIGN NOTES
 *
 * A vector call to memory that is not mapped is many small operations, which go out together in two
 * ways:
 *
 *   an active message   holds many of them (op/am_codec.h): accumulate operations whose route it
 *                       is, and puts and gets, as operations on bytes, if the target polls. Then
 *                       it is faster than a system call.
 *   a system call       of softverbs reads many pieces of private memory (soft/extension.h). Puts
 *                       need none: work requests travel together in any case.
 *
 * An operation that is deferred, or waits for room at the target, goes out by itself. Pieces of one
 * size at one distance do not come here: they are one operation (row.h).
 */
#ifndef ORIEL_LIST_H
#define ORIEL_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "op/acc.h"
#include "win/operation.h"

struct oriel_win;
struct link;

#define LIST_MAX 64          /* operations of one list */
#define LIST_PIECE_BYTES 512 /* a larger operation gains little from its neighbours in a message */

/*
 * Returns whether an active message is faster than a system call: the target polls, or a message to
 * it is under way. A target that applies messages does not say that it polls.
 */
bool list_takes_messages(struct link *link);

/*
 * Issues or defers operations of one call that have been checked: puts or gets, none of them empty,
 * or accumulate operations of one type and operation. As many as possible go out together. ERRORS:
 * as issue_or_defer. The caller holds win->lock.
 */
int list_issue(struct oriel_win *win, struct link *link, const struct op ops[], uint32_t count, const char *call);
int list_issue_accs(struct oriel_win *win, struct link *link, struct acc accs[], uint32_t count, const char *call);

#endif
