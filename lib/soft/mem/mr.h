// SPDX-License-Identifier: BSD-2-Clause
/* Protection domains and memory regions. */
#ifndef SOFT_MR_H
#define SOFT_MR_H

#include <infiniband/verbs.h>
#include <stdint.h>

struct soft_pd {
	struct ibv_pd base;
	_Atomic uint32_t users; /* memory regions, windows, queue pairs and shared receive queues on it */
};

struct soft_mr {
	struct ibv_mr base;
	uint32_t place; /* in segment->mr[] */
	uint32_t access;
	int file_fd; /* duplicate kept for peers, or -1 */
	uint64_t file_offset;
	_Atomic uint32_t windows; /* memory windows bound to it, and not invalidated */
};

static inline struct soft_pd *soft_pd(struct ibv_pd *pd)
{
	return (struct soft_pd *)pd;
}

#endif
