// SPDX-License-Identifier: BSD-2-Clause
/* Unreliable datagrams and address handles. All under qp->lock. */
#ifndef SOFT_DATAGRAM_H
#define SOFT_DATAGRAM_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/peer/pipe.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

/* The sender's side: datagram.c. */

enum {
	SOFT_DATAGRAM_BYTES = 4096, /* the port's MTU */
};

/* Routes of a queue pair for datagrams. */
struct soft_routes {
	struct soft_out *out[SHM_SLOT_NUMBERS]; /* by slot; a reference each, or NULL */
	uint32_t lookups;                       /* threads that look up routes (datagram_post.c) */
	struct soft_out *stalled_on;            /* pipe that the queue waits for, or NULL */
	uint64_t since_ns;                      /* beginning of that wait */
};

/* Returns the pipe to the number's owner, or NULL: none, or not looked up yet. */
static inline struct soft_out *soft_route_to(const struct soft_routes *routes, uint32_t qpn)
{
	struct soft_out *out = routes->out[qpn >> SHM_SLOT_BITS & (SHM_SLOT_NUMBERS - 1)];

	return out && !atomic_load_explicit(&out->dead, memory_order_relaxed) ? out : NULL;
}

/* Stores a work request's destination. */
void soft_datagram_address(struct soft_wqe *wqe, const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey);
/* Sends without an element of the queue. Returns false if an element is needed. */
bool soft_datagram_at_once(struct soft_qp *qp, const struct ibv_send_wr *wr);
/* Sends the request at exec. Returns false if the queue has to wait or has failed. */
bool soft_datagram_step(struct soft_qp *qp, struct soft_wqe *wqe);
/*
 * The next four may end the queue's wait, and return whether it continues. After look-ups of
 * routes:
 */
bool soft_datagram_routed(struct soft_qp *qp);
/* After a pipe's answer: */
bool soft_datagram_answered(struct soft_qp *qp, const struct soft_out *out);
/* After a pipe's death; the caller has a reference. Drops its routes: */
bool soft_datagram_died(struct soft_qp *qp, struct soft_out *out);
/* When the queue pair's timer fires: */
bool soft_datagram_late(struct soft_qp *qp);
/* Removes the queue from a pipe's list. */
void soft_datagram_calm(struct soft_qp *qp);
/* In a forked child: drops the parent's routes. */
void soft_datagram_forked(struct soft_qp *qp);

/* Address handles: ah.c. */
struct soft_ah {
	struct ibv_ah base;
	struct shm_address address;
	struct shm_header header;
};

static inline const struct soft_ah *soft_ah(const struct ibv_ah *ah)
{
	return (const struct soft_ah *)ah;
}

/* The receiver's side: datagram.c. */

/* Delivers or drops a datagram; `req` is a copy. */
void soft_datagram_take(struct soft_qp *qp, const struct shm_req *req, const uint8_t *data);

#endif
