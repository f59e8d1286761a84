// SPDX-License-Identifier: BSD-2-Clause
/*
 * flush_all.h - requests for ORIEL_RANK_ALL
 *
 * DESIGN NOTES
 *
 * A request has no room for a watermark of each target. The window has room for one: a *flush of
 * all* notes for each target what has been issued to it when the flush begins, and ends when all of
 * that is complete. A request that is made meanwhile gets the next one, which begins when this one
 * ends. So a request needs no memory, and is complete after at most two flushes of all.
 *
 * A flush of all does not wait for a lost member. Its requests get ORIEL_ERR_PEER when the other
 * members are complete, or earlier if these take long. The window keeps the first and the last
 * flush of all that has lost a member: all requests between them get the error.
 *
 * The end of lock_all completes everything, and so ends the current flush of all and the next.
 *
 * The caller of all functions holds win->lock.
 */
#ifndef ORIEL_FLUSH_ALL_H
#define ORIEL_FLUSH_ALL_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_win;
struct wait;

/*
 * Sets *number to the flush of all that covers what has been issued up to now; 0 if there is
 * nothing to wait for (local: at the origin). ERRORS: ORIEL_ERR_MEMORY.
 */
int flush_all_of_now(struct oriel_win *win, bool local, uint64_t *number);

/*
 * Makes one turn of a wait for a flush of all. Returns 1 when it has ended, else 0. ERRORS:
 * ORIEL_ERR_PEER, with text, when it has ended, too; ORIEL_ERR_MEMORY, or that of a deferred
 * operation, after which the caller waits again.
 */
int flush_all_step(struct oriel_win *win, uint64_t number);

/*
 * Watches the members that the flush of all waits for, in a wait's periodic check. ERRORS:
 * ORIEL_ERR_PEER, if a member is lost and the others take long.
 */
int flush_all_watch(struct oriel_win *win, struct wait *wait);

/*
 * Notes the end of an epoch of lock_all. `lost`: a lost rank of the window's group, or
 * ORIEL_RANK_NONE.
 */
void flush_all_close(struct oriel_win *win, int lost);

#endif
