// SPDX-License-Identifier: BSD-2-Clause
/*
 * shared.h - shared windows: one piece of memory that all members map
 *
 * DESIGN NOTES
 *
 * A gathering exchanges where the members run and how much they want; all compute the same layout,
 * or the same error. The first member makes a memory file (memory_file.h), and a barrier passes its
 * name to the others, which open it (sharing.h). Each registers its own part. From then on the
 * window is like any other; its members also have addresses for each other's parts.
 */
#ifndef ORIEL_SHARED_H
#define ORIEL_SHARED_H

#include <stddef.h>
#include <stdint.h>

struct oriel_win;

struct shared_part {
	size_t offset;
	size_t size_bytes;
	size_t disp_unit_bytes;
};

struct shared_memory {
	struct shared_part *parts; /* by rank; NULL: not a shared window */
	uint8_t *base;             /* of all parts; NULL if they have no bytes */
	size_t mapped_bytes;
	int fd;
};

/*
 * Makes this rank's part the window's memory. Collective: a member takes all steps on errors too.
 * `vote` is 0, or the error of a member that cannot have the window. ERRORS: ORIEL_ERR_SHARED,
 * ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT, ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT.
 */
int shared_open(struct oriel_win *win, int vote, const char *call);

void shared_close(struct shared_memory *shared);

/*
 * Whether all members of a group can share memory, and which devices reach a window
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

/* Sets win->places. Collective. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT. */
int places_learn(struct oriel_win *win, const char *call);

/* Keeps the result for the group's next windows, after a successful creation. */
void places_keep(const struct oriel_win *win);

/* Returns the devices (a set of devices.h) that may reach the window's memory. */
uint32_t window_devices(const struct oriel_win *win);

#endif
