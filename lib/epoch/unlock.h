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

/* The epochs being closed: that of one link, or those of all. */
struct unlocking {
	struct oriel_win *win;
	struct link *only; /* NULL: all that carry LINK_LOCK */
	const char *call;
	bool all; /* nothing is left to do */
	int code; /* first error of a link */
	int rank; /* in the window's group */
};

/*
 * Close them: what is deferred goes out, the lock is given back behind it, and all of it completes.
 * The links that are done lose their marks. The caller holds the lock, which is given up while it
 * waits. ERRORS: ORIEL_ERR_TIMEOUT, ORIEL_ERR_MEMORY: links are left; ORIEL_ERR_PEER (no text):
 * none is.
 */
int unlock_run(struct unlocking *unlocking);

#endif
