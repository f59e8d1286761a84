// SPDX-License-Identifier: BSD-2-Clause
/*
 * info_ranks.h - for oriel-info under a launcher: how this rank would reach the others
 *
 * It joins the job as oriel_init does, publishes what a rank publishes, and works out from what the
 * others publish which device each of them is talked to by (job/route.h); nobody is connected to.
 */
#ifndef ORIEL_INFO_RANKS_H
#define ORIEL_INFO_RANKS_H

#include <stdbool.h>

struct info_ranks;

/*
 * Join the job that this process was started in; NULL, and *why, if that cannot be. *rank is this
 * process's, 0 in a job of one.
 */
struct info_ranks *info_ranks_join(int *rank, const char **why);

/* Ask for what the others publish; with show, print how each would be reached. False if one would not be. */
bool info_ranks_ask(struct info_ranks *ranks, bool show);

void info_ranks_leave(struct info_ranks *ranks);

#endif
