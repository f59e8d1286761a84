// SPDX-License-Identifier: BSD-2-Clause
/* epoch.h - opening and closing the epochs of post, start, complete, wait */
#ifndef ORIEL_EPOCH_H
#define ORIEL_EPOCH_H

struct oriel_win;
struct epoch;
struct oriel_group;

/*
 * Make the links of an epoch to the members of group, ask for their descriptions. On an error the
 * epoch is as before. The caller holds win->lock. ERRORS: ORIEL_ERR_RANK, ORIEL_ERR_MEMORY.
 */
int epoch_open(struct oriel_win *win, struct epoch *epoch, const struct oriel_group *group, const char *call);

/* The epoch is over. */
void epoch_close(struct epoch *epoch);

#endif
