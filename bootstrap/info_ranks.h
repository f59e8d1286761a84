// SPDX-License-Identifier: BSD-2-Clause
/*
 * info_ranks.h - for oriel-info under a launcher: how this rank would reach the others
 *
 * It joins the job as oriel_init does and publishes what a rank publishes. From what the others
 * publish it finds the device that would reach each (conn/conn.h). It connects to no rank.
 */
#ifndef ORIEL_INFO_RANKS_H
#define ORIEL_INFO_RANKS_H

#include <stdbool.h>

struct info_ranks;

/*
 * Joins this process's job. *rank is its rank, 0 in a job of one. Returns NULL and *why on failure.
 */
struct info_ranks *info_ranks_join(int *rank, const char **why);

/* Gets what the others publish; show prints how each is reached. Returns false if one cannot be. */
bool info_ranks_ask(struct info_ranks *ranks, bool show);

void info_ranks_leave(struct info_ranks *ranks);

#endif
