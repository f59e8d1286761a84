// SPDX-License-Identifier: BSD-2-Clause
/* access.h - the origin's side of post, start, complete, wait */
#ifndef ORIEL_ACCESS_H
#define ORIEL_ACCESS_H

#include <stdbool.h>

struct oriel_win;
struct link;
struct epoch;
struct oriel_group;

/*
 * Whether the target has opened its window to us: its post flag of this epoch has been seen. Holds
 * win->lock.
 */
bool access_grant(struct oriel_win *win, struct link *link);

/* Issue what is held back for targets whose post has arrived since (P4). Holds win->lock. */
void access_push(struct oriel_win *win);

/*
 * Make the links of an epoch to the members of group, ask for their descriptions if `prefetch`. On
 * an error the epoch is as before. Holds win->lock. ERRORS: ORIEL_ERR_RANK, ORIEL_ERR_MEMORY.
 */
int epoch_open(struct oriel_win *win, struct epoch *epoch, const struct oriel_group *group, const char *call);

/* The epoch is over. */
void epoch_close(struct epoch *epoch);

#endif
