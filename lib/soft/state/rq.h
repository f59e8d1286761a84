// SPDX-License-Identifier: BSD-2-Clause
/* A ring of waiting receives, of a queue pair or shared. Its owner locks it. */
#ifndef SOFT_RQ_H
#define SOFT_RQ_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/base/limits.h"

/* A receive work request in the ring. */
struct soft_rwqe {
	uint64_t wr_id;
	uint32_t nsge;
	struct ibv_sge sge[];
};

struct soft_rq {
	uint8_t *ring;
	size_t stride;  /* bytes per soft_rwqe */
	uint32_t size;  /* a power of two, or 0 */
	uint32_t limit; /* entries that the caller knows of */
	uint32_t max_sge;
	uint32_t head, tail;
};

/* The receive of a message. */
struct soft_rx {
	uint64_t wr_id;
	uint32_t nsge;
	struct ibv_sge sge[SOFT_MAX_SGE];
};

static inline struct soft_rwqe *soft_rwqe(const struct soft_rq *rq, uint32_t index)
{
	return (struct soft_rwqe *)(void *)(rq->ring + (size_t)(index & (rq->size - 1)) * rq->stride);
}

/* Returns 0 or ENOMEM. */
int soft_rq_init(struct soft_rq *rq, uint32_t wr, uint32_t sge);
void soft_rq_fini(struct soft_rq *rq);
/* Returns 0 or an errno value. */
int soft_rq_put(struct soft_rq *rq, const struct ibv_recv_wr *wr);
/* Takes the oldest receive. Returns false if there is none. */
bool soft_rq_pop(struct soft_rq *rq, struct soft_rx *rx);

/* Puts back the receive taken last; nothing may have been put or taken since. */
static inline void soft_rq_untake(struct soft_rq *rq)
{
	rq->tail--;
}

#endif
