// SPDX-License-Identifier: BSD-2-Clause
/*
 * err.h - how errors are reported
 *
 * DESIGN NOTES
 *
 * A function that finds an error calls err_set with the code and a text for the user, and returns
 * the code. Functions that pass an error on do not touch the thread's text.
 *
 * Texts are made of other texts, so they say only what happened. oriel_last_error adds "[rank 3] "
 * or, before the rank is known, "[pid 4711] ", and the constant, " (ORIEL_ERR_SYNC)".
 */
#ifndef ORIEL_ERR_H
#define ORIEL_ERR_H

#include "oriel.h"

#define ERR_TEXT_BYTES 1024
#define ERR_FRAME_BYTES 64 /* added by oriel_last_error, at most */

int err_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Stores the text about a rank that lives and cannot be reached. To the library it is lost: returns
 * ORIEL_ERR_PEER, of which err_in makes ORIEL_ERR_ROUTE.
 */
int err_set_route(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Puts "call: " before the last text, if it is not there; returns code, or ORIEL_ERR_ROUTE
 * (err_set_route). For public calls.
 */
int err_in(int code, const char *call);

/* Returns the text alone, for other texts. */
const char *err_text(void);

/* Returns what the code means, without the constant. */
const char *err_meaning(int code);

/*
 * Errors name this rank from now on, until err_rank_leave; they name the process if its jobs differ
 * in its rank.
 */
void err_rank_enter(int rank);
void err_rank_leave(void);

#endif
