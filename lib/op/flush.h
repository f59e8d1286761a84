// SPDX-License-Identifier: BSD-2-Clause
/* flush.h - what fence needs of flush */
#ifndef ORIEL_FLUSH_H
#define ORIEL_FLUSH_H

#include <stdbool.h>

struct oriel_win;

/*
 * Wait until the operations issued so far to `rank`, or to all touched links, are complete at both
 * sides, or (local) at the origin. Called without the lock. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_TIMEOUT.
 */
int flush_run(struct oriel_win *win, int rank, bool local, const char *call);

#endif
