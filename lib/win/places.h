// SPDX-License-Identifier: BSD-2-Clause
/*
 * places.h - whether all members of a group can share memory, and which devices reach a window
 *
 * DESIGN NOTES
 *
 * A card pins all memory that is registered with it. If all members can share memory, the window is
 * registered with softverbs alone. A barrier before a group's first window compares the members'
 * places. The result is kept with the count of the group's collective calls, which is equal on all
 * members, so either all know it or none.
 *
 * If that group is the whole job, no card connects two ranks, and processors change the words of
 * all windows, even if the card is atomic only among its own requests (atomics_peer.h).
 */
#ifndef ORIEL_PLACES_H
#define ORIEL_PLACES_H

#include <stdint.h>

struct oriel_win;

/* Sets win->places. Collective. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT. */
int places_learn(struct oriel_win *win, const char *call);

/* Keeps the result for the group's next windows, after a successful creation. */
void places_keep(const struct oriel_win *win);

/* Returns the devices (a set of devices.h) that may reach the window's memory. */
uint32_t window_devices(const struct oriel_win *win);

#endif
