// SPDX-License-Identifier: BSD-2-Clause
/* window.h - steps that making and freeing a window share */
#ifndef ORIEL_WINDOW_H
#define ORIEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "oriel.h"

struct oriel_job;
struct oriel_win;

/* Hides the directory entry: lookups no longer find the window. */
void window_hide(struct oriel_win *win);

/* Returns whether an open epoch makes oriel_win_free refuse. */
bool window_free_refused(struct oriel_win *win);

/*
 * Releases everything but flag words and slot. Memory of the library may serve another window,
 * unless late writes of a lost member are possible (reuse false).
 */
void window_release(struct oriel_win *win, bool reuse);

/*
 * Uncounts the window. Its slot may serve another, unless late writes of a lost member are possible
 * (reuse false).
 */
void window_give_slot(struct oriel_job *job, uint32_t slot, bool reuse);

/*
 * hints.c: the hints of a window (W9, I1, I2, A16, A18, A19)
 *
 * Every known hint is kept as a field of struct oriel_win_info, so that oriel_win_query tells what
 * is in force; but for `refuse`, with which there is no window.
 */

#define SIGNALS_MAX 65536

/* The pairs that accumulate_ordering keeps in order: the first operation, then the second. */
enum ordering { ORDER_RAR = 1, ORDER_RAW = 2, ORDER_WAR = 4, ORDER_WAW = 8, ORDER_ALL = 15 };

/* The defaults of all hints. */
void hints_default(struct oriel_win_info *info);

/*
 * Takes the known hints of a list, which may be NULL; with `later` only those that a window can
 * change after its creation, but every value that cannot be used is an error. ERRORS:
 * ORIEL_ERR_ARG, with key, value and what is legal; info is then half changed.
 */
int hints_take(struct oriel_win_info *info, const struct oriel_hint hints[], bool later);

/* Takes over a name as the hint does. ERRORS: ORIEL_ERR_ARG. */
int hints_take_name(struct oriel_win_info *info, const char *name);

/* Whether the caller refuses the window, by hints that have been taken. */
bool hints_refuse(const struct oriel_hint hints[]);

/* One number for the hints that all members must give alike: it differs where they do. */
uint64_t hints_to_agree(const struct oriel_win_info *info);

#endif
