// SPDX-License-Identifier: BSD-2-Clause
/*
 * places.h - whether the members of a window's group can all share memory, and so which devices
 * reach its memory
 *
 * DESIGN NOTES
 *
 * A card pins memory that is registered with it, and so touches all of it. Where all members can
 * share memory, none of them reaches a window by the card, and its memory is registered with
 * softverbs alone. Members learn that by a barrier in which they compare their places, before the
 * first window of a group. The result is kept with the count of the group's collective calls, which
 * all members have in common, so that all of them know it or none does.
 *
 * Where the first window's group is the whole job, a card is between no two ranks, and processors
 * change the words of all windows, even if the card is atomic among its own requests only
 * (atomics_peer.h).
 */
#ifndef ORIEL_PLACES_H
#define ORIEL_PLACES_H

#include <stdint.h>

struct oriel_win;

/*
 * Set win->places. Collective, inside the creation of a window. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_TIMEOUT.
 */
int places_learn(struct oriel_win *win, const char *call);

/* The creation has succeeded: the next window of the group need not learn it. */
void places_keep(const struct oriel_win *win);

/* The devices by which members may reach the window's memory, a set of devices.h. */
uint32_t window_devices(const struct oriel_win *win);

#endif
