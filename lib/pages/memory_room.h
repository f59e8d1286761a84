// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_room.h - how much memory this process can have
 *
 * If promised shared memory is missing at its first touch, or a control group is full, a signal
 * ends the process. So the library asks before, and the answer names the limit. The room that is
 * left holds for a moment: others may take it meanwhile.
 */
#ifndef ORIEL_MEMORY_ROOM_H
#define ORIEL_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* Which part of a limit counts: what is left of it now, or all of it. */
enum memory_part { MEMORY_LEFT, MEMORY_IN_ALL };

struct memory_room {
	uint64_t bytes;       /* that can be had; UINT64_MAX: unknown */
	uint64_t limit_bytes; /* the limit that leaves these */
	char limit[192];
};

/*
 * Sets *room to the smallest room of the machine and of each control group around the process. root
 * stands before the paths of /proc and /sys, "" for the true ones.
 */
void memory_room(const char *root, enum memory_part part, struct memory_room *room);

/* Returns whether the system promises no more memory than it has (vm.overcommit_memory is 2). */
bool memory_is_strict(const char *root);

#endif
