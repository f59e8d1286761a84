// SPDX-License-Identifier: BSD-2-Clause
/* window.h - what making and freeing a window share: undoing it, step by step */
#ifndef ORIEL_WINDOW_H
#define ORIEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_job;
struct oriel_win;

/* Hide the directory entry: nobody finds the window here any more. */
void window_hide(struct oriel_win *win);

/* Whether oriel_win_free would be told that an epoch is in its way. */
bool window_free_refused(struct oriel_win *win);

/*
 * Release everything but flag words and slot. Memory of ours may serve another window, unless
 * (reuse false) writes of a lost member might still come.
 */
void window_release(struct oriel_win *win, bool reuse);

/*
 * The window no longer counts; its slot may serve another, unless (reuse false) writes of a lost
 * member might still come.
 */
void window_give_slot(struct oriel_job *job, uint32_t slot, bool reuse);

#endif
