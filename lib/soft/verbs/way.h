// SPDX-License-Identifier: BSD-2-Clause
/* How a polling peer's private memory is written. See way.c. */
#ifndef SOFT_WAY_H
#define SOFT_WAY_H

#include <stdint.h>

enum {
	SOFT_WAY_MIN = 512, /* bytes; fewer always go by ring */
};

enum soft_way {
	SOFT_BY_RING,
	SOFT_BY_CALL, /* process_vm_writev */
};

/* For the next write of this length; the better one, or one that is to be tried. */
enum soft_way soft_way_next(uint64_t length);
/* The better one, as far as is known. */
enum soft_way soft_way_better(uint64_t length);
/* How long a write that went this way took, in ticks. */
void soft_way_took(enum soft_way way, uint64_t length, uint64_t ticks);

#endif
