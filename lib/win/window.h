// SPDX-License-Identifier: BSD-2-Clause
/* window.h - steps that making and freeing a window share */
#ifndef ORIEL_WINDOW_H
#define ORIEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "oriel.h"

struct oriel_job;
struct oriel_win;

/* Hides the directory entry from lookups. */
void window_hide(struct oriel_win *win);

bool window_free_refused(struct oriel_win *win);

/*
 * Releases everything but flag words and slot. Without `reuse`, late writes of a lost member are
 * possible: the library's memory serves no other window.
 */
void window_release(struct oriel_win *win, bool reuse);

/* Uncounts the window, and frees its slot if `reuse`. */
void window_give_slot(struct oriel_job *job, uint32_t slot, bool reuse);

/*
 * hints.c: the hints of a window (W9, I1, I2, A16, A18, A19)
 *
 * All but `refuse` are kept in struct oriel_win_info, for oriel_win_query.
 */

#define SIGNALS_MAX 65536

/* The pairs that accumulate_ordering keeps in order: first operation, second operation. */
enum ordering { ORDER_RAR = 1, ORDER_RAW = 2, ORDER_WAR = 4, ORDER_WAW = 8, ORDER_ALL = 15 };

void hints_default(struct oriel_win_info *info);

/*
 * Takes the known hints of a list, which may be NULL; with `later` only those that can change after
 * creation, but each value is checked. ERRORS: ORIEL_ERR_ARG; info is then half changed.
 */
int hints_take(struct oriel_win_info *info, const struct oriel_hint hints[], bool later);

/* Takes a name as the hint does. ERRORS: ORIEL_ERR_ARG. */
int hints_take_name(struct oriel_win_info *info, const char *name);

bool hints_refuse(const struct oriel_hint hints[]);

/* Returns a number that differs where hints differ that must agree on all members. */
uint64_t hints_to_agree(const struct oriel_win_info *info);

#endif
