// SPDX-License-Identifier: BSD-2-Clause
/* Unreliable datagrams, the sender's side. See datagram.c. All under qp->lock. */
#ifndef SOFT_DATAGRAM_H
#define SOFT_DATAGRAM_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/verbs/pipe.h"
#include "soft/verbs/qp.h"
#include "soft/verbs/shm.h"

enum {
	SOFT_DATAGRAM_BYTES = 4096, /* in the longest: the port's MTU */
};

/* What a queue pair for datagrams has in place of a peer. Under qp->lock. */
struct soft_routes {
	struct soft_out *out[SHM_SLOT_NUMBERS]; /* by the slot of a number; a reference each, or NULL */
	uint32_t lookups;                       /* threads that look up routes (datagram_route.c) */
	struct soft_out *stalled_on;            /* whose room or answer the queue waits for, or NULL */
	uint64_t since_ns;                      /* and since when */
};

/* The pipe to the process that owns the number; NULL: none does, or it is not looked up yet. */
static inline struct soft_out *soft_route_to(const struct soft_routes *routes, uint32_t qpn)
{
	struct soft_out *out = routes->out[qpn >> SHM_SLOT_BITS & (SHM_SLOT_NUMBERS - 1)];

	return out && !atomic_load_explicit(&out->dead, memory_order_relaxed) ? out : NULL;
}

/* Where a work request goes to, into an element of the queue. */
void soft_datagram_address(struct soft_wqe *wqe, const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey);
/* Send it without its becoming an element of the queue; false: it has to. */
bool soft_datagram_at_once(struct soft_qp *qp, const struct ibv_send_wr *wr);
/* The request at exec; false if the queue has to wait or has failed. */
bool soft_datagram_step(struct soft_qp *qp, struct soft_wqe *wqe);
/* What the queue waits for may have come; true if it is to go on: routes have been looked up, */
bool soft_datagram_routed(struct soft_qp *qp);
/* or a pipe is answered, */
bool soft_datagram_answered(struct soft_qp *qp, const struct soft_out *out);
/* or dead, and then it is forgotten: the caller has a reference of its own, */
bool soft_datagram_died(struct soft_qp *qp, struct soft_out *out);
/* or the time of the queue pair's timer has come. */
bool soft_datagram_late(struct soft_qp *qp);
/* It waits for nothing any more. */
void soft_datagram_calm(struct soft_qp *qp);
/* In a child: the routes are the parent's. */
void soft_datagram_forked(struct soft_qp *qp);

#endif
