// SPDX-License-Identifier: BSD-2-Clause
/* fence.h - what other files need of fences */
#ifndef ORIEL_FENCE_H
#define ORIEL_FENCE_H

#include "verbs/wire.h"

struct oriel_win;
struct link;

/* Rounds of a barrier of that many ranks. */
int fence_rounds(int size);

/* The window goes: forget what members said about a fence that failed. */
void fence_forget(struct oriel_win *win);

/* Service thread, before the link becomes ready: where the member keeps its fence words. */
void fence_learn(struct oriel_win *win, const struct link *link, struct remote words);

#endif
