// SPDX-License-Identifier: BSD-2-Clause
/*
 * shared.h - shared windows: one piece of memory that all members map
 *
 * DESIGN NOTES
 *
 * The members first tell each other where they run and how much they want (a gathering): all
 * compute the same places of the parts, or the same error. The first member makes one memory file
 * of the whole (memory_file.h), and a barrier takes its name to the others, who open it
 * (sharing.h). Each then registers its own part, and the window goes on like any other, by a device
 * too: a shared window is one whose members have, besides, addresses for each other's parts.
 */
#ifndef ORIEL_SHARED_H
#define ORIEL_SHARED_H

#include <stddef.h>
#include <stdint.h>

struct oriel_win;

/* A member's part of the memory. */
struct shared_part {
	size_t offset;
	size_t size_bytes;
	size_t disp_unit_bytes;
};

struct shared_memory {
	struct shared_part *parts; /* by rank; NULL: it is no shared window */
	uint8_t *base;             /* of all parts; NULL for no bytes at all */
	size_t mapped_bytes;
	int fd;
};

/*
 * Collective: this rank's part becomes the window's memory. Whatever happens, the members go
 * through the same steps; `vote` is 0, or the error of one that cannot have the window. ERRORS:
 * ORIEL_ERR_SHARED, ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT, ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT.
 */
int shared_open(struct oriel_win *win, int vote, const char *call);

void shared_close(struct shared_memory *shared);

#endif
