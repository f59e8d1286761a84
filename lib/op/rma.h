// SPDX-License-Identifier: BSD-2-Clause
/*
 * rma.h - operations: checked, held back, issued, completed
 *
 * Internal functions take win->lock as held by the caller unless they say otherwise.
 */
#ifndef ORIEL_RMA_H
#define ORIEL_RMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oriel_win;
struct link;

/*
 * Issue the operations that were held back for a link whose post has arrived. ERRORS:
 * ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int rma_issue_held(struct oriel_win *win, struct link *link);

/* Deregister what was registered for operations that are now complete, or lost with their peer. */
void release_epoch_mrs(struct oriel_win *win);

/*
 * Wait until the operations issued so far to `rank`, or to all touched links, are complete at both
 * sides, or (local) at the origin. Called without the lock. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_TIMEOUT.
 */
int rma_flush(struct oriel_win *win, int rank, bool local, const char *call);

#endif
