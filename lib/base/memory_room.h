// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_room.h - how much memory this process can have
 *
 * Shared memory that is promised and then not there ends a process by a signal, at its first touch
 * or when a control group is full. So it is asked for before, and the answer names what is in the
 * way. What is left is a moment's answer: others may take the memory meanwhile.
 */
#ifndef ORIEL_MEMORY_ROOM_H
#define ORIEL_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* What of a limit counts: what is left of it now, or all of it, as it is where nothing is used. */
enum memory_part { MEMORY_LEFT, MEMORY_IN_ALL };

struct memory_room {
	uint64_t bytes;       /* that can be had; UINT64_MAX: nothing is known */
	uint64_t limit_bytes; /* of which these are the rest */
	char limit[192];      /* what sets the limit */
};

/*
 * The least of what the machine and each control group around the process have. root stands before the
 * paths of /proc and /sys, "" for the true ones.
 */
void memory_room(const char *root, enum memory_part part, struct memory_room *room);

/* Whether the system promises no more memory than it has (vm.overcommit_memory is 2). */
bool memory_is_strict(const char *root);

#endif
