// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_words.h - the lock of one member's window, step by step
 *
 * The caller of each function holds win->lock; the link has LINK_LOCK and is ready.
 */
#ifndef ORIEL_LOCK_WORDS_H
#define ORIEL_LOCK_WORDS_H

#include <stdbool.h>

struct oriel_win;
struct link;
struct lock;

/*
 * Makes one step. Returns 1 when the lock is held (LINK_GRANTED), 0 before, or ORIEL_ERR_PEER,
 * ORIEL_ERR_MEMORY.
 */
int lock_step(struct oriel_win *win, struct link *link);

/* Makes one step of a requested lock; sets no mark. */
int lock_phase_step(struct oriel_win *win, struct link *link, struct lock *lock);

/*
 * Returns why the last step failed for good, or 0. ERRORS (with text): ORIEL_ERR_DEVICE: tickets
 * cannot be drawn at the target; ORIEL_ERR_PEER, ORIEL_ERR_MEMORY: nor by another connection.
 */
int lock_error(const struct oriel_win *win, const struct link *link);

/* Releases the lock, behind all that was posted to the member. ERRORS: ORIEL_ERR_PEER. */
int lock_release(struct oriel_win *win, struct link *link);

/*
 * Releases the lock of a lost member that may live: only the connection broke. Stores still reach
 * its words, and its service thread leaves them alone while this process lives.
 */
void lock_release_lost(struct oriel_win *win, struct link *link);

/* Returns whether stores reach the words; they are not ordered behind work requests. */
bool lock_is_mapped(const struct oriel_win *win, const struct link *link);

/*
 * Returns whether a rank had died holding it at the grant, and none has held it exclusively since.
 */
bool lock_is_orphaned(const struct oriel_win *win, const struct link *link);

/*
 * Abandons a lock whose call has timed out (L24, lock_given_up.c). A free of the window waits for
 * its end.
 */
void lock_give_up(struct oriel_win *win, struct link *link);

/* Ends all lock epochs: releases held locks, abandons requested ones, waits for no lost member. */
void locks_give_back(struct oriel_win *win);

void locks_free(struct oriel_win *win);

#endif
