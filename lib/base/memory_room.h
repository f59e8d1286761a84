// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_room.h - how much memory this process can still have
 *
 * Shared memory that is promised and then not there ends a process by a signal, at its first touch
 * or when a control group is full. So it is asked for before, and the answer names what is in the
 * way. It is a moment's answer: others may take the memory meanwhile.
 */
#ifndef ORIEL_MEMORY_ROOM_H
#define ORIEL_MEMORY_ROOM_H

#include <stdint.h>

struct memory_room {
	uint64_t bytes;       /* that can still be had; UINT64_MAX: nothing is known */
	uint64_t limit_bytes; /* of which these are the rest */
	char limit[192];      /* what sets the limit */
};

/*
 * The least of what the machine and each control group around the process have left. root stands
 * before the paths of /proc and /sys, "" for the true ones.
 */
void memory_room(const char *root, struct memory_room *room);

#endif
