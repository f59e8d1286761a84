// SPDX-License-Identifier: BSD-2-Clause
/* unlock.h - closing lock epochs, one or all */
#ifndef ORIEL_UNLOCK_H
#define ORIEL_UNLOCK_H

#include <stdbool.h>

struct oriel_win;
struct link;

/* The marks of a lock epoch, which end with it. */
#define LOCK_MARKS                                                                                                  \
	(LINK_ACCESS | LINK_GRANTED | LINK_TOUCHED | LINK_GOT | LINK_WAITING | LINK_FLAGGED | LINK_CLOSED | LINK_LOCK | \
	 LINK_LOCKING | LINK_EXCLUSIVE | LINK_NOCHECK)

/* The epochs being closed: of one link, or of all. */
struct unlocking {
	struct oriel_win *win;
	struct link *only; /* NULL: all that carry LINK_LOCK */
	const char *call;
	bool all;
	int code; /* first error of a link */
	int rank; /* in the window's group */
};

/*
 * Closes them: issues what is deferred, gives back the lock behind it, and completes all of it. The
 * links that are done lose their marks. The caller holds win->lock; a wait gives it up. ERRORS:
 * ORIEL_ERR_TIMEOUT, ORIEL_ERR_MEMORY: links are left; ORIEL_ERR_PEER (no text): none is.
 */
int unlock_run(struct unlocking *unlocking);

#endif
