/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * err.h - how errors are reported
 *
 * DESIGN NOTES
 *
 * A function that finds an error calls err_set with the code and a text for the user, and returns
 * the code. The text goes to a buffer of the thread. Functions that only pass an error on do not
 * touch it.
 *
 * Texts are made of other texts, so the buffer holds what happened only. oriel_last_error puts the
 * rank before it, "[rank 3] " or, before the rank is known, "[pid 4711] ", and the constant behind
 * it, " (ORIEL_ERR_SYNC)".
 */
#ifndef ORIEL_ERR_H
#define ORIEL_ERR_H

#include "oriel.h"

#define ERR_TEXT_BYTES 1024
#define ERR_FRAME_BYTES 64 /* what oriel_last_error adds, at most */

/* Stores the text for oriel_last_error; returns code. */
int err_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Stores the text about a rank that lives and cannot be reached. Inside the library such a rank is
 * lost as a dead one is: returns ORIEL_ERR_PEER, of which err_in makes ORIEL_ERR_ROUTE.
 */
int err_set_route(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Puts "call: " before the text of the last error, if it is not there; returns code, or
 * ORIEL_ERR_ROUTE (err_set_route). For public calls whose helper does not know the call's name.
 */
int err_in(int code, const char *call);

/* Returns the text alone, for other texts. */
const char *err_text(void);

/* Returns what the code means, without the constant that oriel_strerror puts before it. */
const char *err_meaning(int code);

/*
 * This process has a job from now on, and errors name its rank; err_rank_leave ends that. If it has
 * jobs in which its ranks differ, errors name the process.
 */
void err_rank_enter(int rank);
void err_rank_leave(void);

#endif
