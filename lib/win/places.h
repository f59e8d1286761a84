// SPDX-License-Identifier: BSD-2-Clause
/*
 * places.h - whether all members of a window's group can share memory, and so which devices reach
 * its memory
 *
 * DESIGN NOTES
 *
 * A card pins memory that is registered with it, and so touches all of it. Where all members can
 * share memory, none reaches a window by the card, and the memory is registered with softverbs
 * alone. A barrier before the first window of a group compares the members' places. The result is
 * kept with the count of the group's collective calls, which is equal on all members: all of them
 * know the result, or none.
 *
 * If the first window's group is the whole job, no two ranks are connected by a card, and
 * processors change the words of all windows, even if the card is atomic only among its own
 * requests (atomics_peer.h).
 */
#ifndef ORIEL_PLACES_H
#define ORIEL_PLACES_H

#include <stdint.h>

struct oriel_win;

/*
 * Sets win->places. Collective, during the creation of a window. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_TIMEOUT.
 */
int places_learn(struct oriel_win *win, const char *call);

/* Keeps the result for the group's next windows, after the creation has succeeded. */
void places_keep(const struct oriel_win *win);

/* Returns the devices by which members may reach the window's memory, a set of devices.h. */
uint32_t window_devices(const struct oriel_win *win);

#endif
