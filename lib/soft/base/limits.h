// SPDX-License-Identifier: BSD-2-Clause
/* Limits of the device. */
#ifndef SOFT_LIMITS_H
#define SOFT_LIMITS_H

#include <infiniband/verbs.h>

enum {
	SOFT_FILE_SLOTS = 256, /* slots below are those of sockets that are files (start.c) */
	SOFT_PORT = 1,
	SOFT_MAX_WR = 16384, /* per queue */
	SOFT_MAX_SGE = 16,
	SOFT_MAX_INLINE = 1024, /* bytes */
	SOFT_MAX_CQE = 1 << 20,
	SOFT_MAX_RD_ATOMIC = 128,
	SOFT_MAX_GIDS = 64,
	SOFT_MAX_PIPES = 8192, /* peers in each direction */
};

#define SOFT_MAX_MSG (1u << 31) /* bytes */

/* The rights by which peers may access a region. */
#define SOFT_ACCESS_PEERS \
	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

#endif
