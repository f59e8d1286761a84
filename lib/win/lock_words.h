// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_words.h - the lock of one member's window, step by step
 *
 * lock_words.c explains the protocol, lock_given_up.c what happens to locks that a call has
 * abandoned. The caller of each function holds win->lock; the link has LINK_LOCK and is ready.
 */
#ifndef ORIEL_LOCK_WORDS_H
#define ORIEL_LOCK_WORDS_H

#include <stdbool.h>

struct oriel_win;
struct link;
struct lock;

/*
 * Makes one step towards the lock. Returns 1 when it is held (LINK_GRANTED), 0 before, or
 * ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int lock_step(struct oriel_win *win, struct link *link);

/* Makes one step of a lock that is already requested; sets no mark at the link. */
int lock_phase_step(struct oriel_win *win, struct link *link, struct lock *lock);

/*
 * Returns why this thread's last step failed for good, or 0. ERRORS (with text): ORIEL_ERR_DEVICE:
 * tickets cannot be drawn at the target; ORIEL_ERR_PEER, ORIEL_ERR_MEMORY: nor by another
 * connection.
 */
int lock_error(const struct oriel_win *win, const struct link *link);

/* Releases the lock, behind all that has been posted to the member. ERRORS: ORIEL_ERR_PEER. */
int lock_release(struct oriel_win *win, struct link *link);

/*
 * Releases the lock of a member that this rank has lost but that may live, as when only the
 * connection broke. Stores still reach its words, and its service thread does not touch them while
 * this process lives.
 */
void lock_release_lost(struct oriel_win *win, struct link *link);

/* Returns whether stores reach its words; stores are not ordered behind work requests. */
bool lock_is_mapped(const struct oriel_win *win, const struct link *link);

/*
 * Returns whether a rank had died holding it at the grant, and no rank has held it exclusively
 * since.
 */
bool lock_is_orphaned(const struct oriel_win *win, const struct link *link);

/*
 * Hands over a lock whose call has timed out (L24). Another call may continue; otherwise the
 * service thread releases it once it is granted. A free of the window waits for that.
 */
void lock_give_up(struct oriel_win *win, struct link *link);

/*
 * Ends all open lock epochs: releases held locks, abandons requested ones. Does not wait for lost
 * members.
 */
void locks_give_back(struct oriel_win *win);

/* Releases the locks' entries. */
void locks_free(struct oriel_win *win);

#endif
