// SPDX-License-Identifier: BSD-2-Clause
/* route_text.h - prints by which routes operations go to a member of a window (ORIEL_VERBOSE=2) */
#ifndef ORIEL_ROUTE_TEXT_H
#define ORIEL_ROUTE_TEXT_H

#include "win/link.h"
#include "win/win.h"

/*
 * Prints one line, if wanted: the routes of puts and gets, of each class of accumulate operations,
 * and of the lock if this rank holds it. The link's route has been decided. The caller holds
 * win->lock.
 */
void route_tell(const struct oriel_win *win, const struct link *link);

#endif
