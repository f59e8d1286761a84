// SPDX-License-Identifier: BSD-2-Clause
/*
 * flush_all.h - requests for ORIEL_RANK_ALL
 *
 * DESIGN NOTES
 *
 * A request has no room for what has been issued to each target. The window has, once: a *flush of
 * all* notes for each what has been issued to it up to then, and is over when all of that is
 * complete. There is one at a time. A request that is made meanwhile gets the next, which begins
 * when this one is over and covers what has been issued by then. So there is no memory for a
 * request, and each is complete after two flushes of all. A flush of all ends, since what it waits
 * for is fixed when it begins.
 *
 * A member that is lost is done with, and the flush's requests get ORIEL_ERR_PEER when the others
 * are complete; or earlier, when these keep a wait waiting for long. Which flushes of all have lost
 * somebody is kept as the first and the last such one: a request between them that nobody has
 * looked at since gets the error too.
 *
 * The end of lock_all has completed everything, and so ends the flush of all and the one after it.
 *
 * The caller of all holds win->lock.
 */
#ifndef ORIEL_FLUSH_ALL_H
#define ORIEL_FLUSH_ALL_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_win;
struct wait;

/*
 * The flush of all that covers what has been issued up to now; 0 if there is nothing to wait for
 * (local: at the origin). ERRORS: ORIEL_ERR_MEMORY.
 */
int flush_all_of_now(struct oriel_win *win, bool local, uint64_t *number);

/*
 * One turn of a wait for a flush of all: 1 when it is over, 0 when it has to wait. ERRORS:
 * ORIEL_ERR_PEER, with text, when it is over too; ORIEL_ERR_MEMORY, or of what is deferred, which
 * is to be waited for again.
 */
int flush_all_step(struct oriel_win *win, uint64_t number);

/*
 * During a look: those that the flush of all waits for. ERRORS: ORIEL_ERR_PEER, it has waited long
 * for the others.
 */
int flush_all_watch(struct oriel_win *win, struct wait *wait);

/*
 * An epoch of lock_all has ended. `lost`: the lost rank of the window's group, or ORIEL_RANK_NONE.
 */
void flush_all_close(struct oriel_win *win, int lost);

#endif
