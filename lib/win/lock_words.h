// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_words.h - the lock of one member's window, step by step; how it works is told in
 * lock_words.c, what becomes of those that a call left behind in lock_given_up.c
 *
 * The caller of all holds win->lock; the link has LINK_LOCK and is ready.
 */
#ifndef ORIEL_LOCK_WORDS_H
#define ORIEL_LOCK_WORDS_H

#include <stdbool.h>

struct oriel_win;
struct link;
struct lock;

/*
 * One step towards the lock: 1 when it is held (LINK_GRANTED), 0 while it is not, or
 * ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int lock_step(struct oriel_win *win, struct link *link);

/* The same for what has been asked for already, without a mark at the link. */
int lock_phase_step(struct oriel_win *win, struct link *link, struct lock *lock);

/*
 * Why the step before, by this thread, has not come further, and none will; or 0. ERRORS (with the
 * text set): ORIEL_ERR_DEVICE: tickets cannot be drawn there; ORIEL_ERR_PEER, ORIEL_ERR_MEMORY: nor
 * by another connection.
 */
int lock_error(const struct oriel_win *win, const struct link *link);

/* Give it back, behind everything that has been posted to the member. ERRORS: ORIEL_ERR_PEER. */
int lock_release(struct oriel_win *win, struct link *link);

/*
 * The member is lost to this rank, and may live: only the connection to it is, say. Stores reach
 * its words all the same, and its service thread leaves them alone while this process lives.
 */
void lock_release_lost(struct oriel_win *win, struct link *link);

/* Whether its words are reached by stores, which stay behind no work request. */
bool lock_is_mapped(const struct oriel_win *win, const struct link *link);

/*
 * Whether a rank had died holding it when it was granted, and nobody has held it exclusively since.
 */
bool lock_is_orphaned(const struct oriel_win *win, const struct link *link);

/*
 * The call that asked for it has timed out (L24). Another call goes on with it; if none does, the
 * service thread passes it on when it comes up, and a free of the window waits for that.
 */
void lock_give_up(struct oriel_win *win, struct link *link);

/*
 * The lock epochs that are open end: what is held is given back, what has been asked for is given
 * up. Members that are lost keep nobody waiting.
 */
void locks_give_back(struct oriel_win *win);

/* Release the locks' entries. */
void locks_free(struct oriel_win *win);

#endif
