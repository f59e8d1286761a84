// SPDX-License-Identifier: BSD-2-Clause
/* Address handles: where a datagram goes to. See ah.c. */
#ifndef SOFT_AH_H
#define SOFT_AH_H

#include <infiniband/verbs.h>

#include "soft/state/shm.h"

struct soft_ah {
	struct ibv_ah base;
	struct shm_address address;
	struct shm_header header;
};

static inline const struct soft_ah *soft_ah(const struct ibv_ah *ah)
{
	return (const struct soft_ah *)ah;
}

#endif
