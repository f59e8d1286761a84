// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibv_post_send of datagrams: immediately, or by the queue, after looking up routes
 * (datagram_post.c).
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/engine/engine.h"
#include "soft/post/post.h"
#include "soft/request/datagram.h"
#include "soft/request/request.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

static int enqueue_datagram(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	int err = soft_enqueue(qp, wr);

	if (err || (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM))
		return err;
	if (!wr->wr.ud.ah)
		return EINVAL;
	soft_datagram_address(soft_wqe(qp, qp->sq_head), wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	return 0;
}

int soft_datagram_post(struct soft_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	uint32_t first = qp->sq_head;
	int err = soft_takes_sends(soft_qp_state(qp)) ? 0 : EINVAL;

	if (!err && soft_call_fails("soft_post_send"))
		err = ENOMEM;
	for (; wr && !err; wr = wr->next) {
		if (soft_datagram_at_once(qp, wr))
			continue;
		err = enqueue_datagram(qp, wr);
		if (err)
			break;
		qp->sq_head++;
	}
	if (err)
		*bad = wr;
	if (qp->sq_exec != qp->sq_head)
		soft_route_and_send(qp, first);
	return err;
}

/*
 * Routes of datagrams: the posting thread looks up the process that owns the number.
 *
 * DESIGN NOTES
 *
 * The first datagram to a process needs a pipe, and so a message to its engine (pipes.c), which
 * a thread must not send under qp->lock. So the requests are posted first. While their thread looks
 * up routes (soft_routes.lookups) the queue waits; afterwards it sends. The queue, not the thread,
 * waits for the other process's answer (datagram.c). If the process does not exist, or this one
 * lacks descriptors or memory, the datagram is lost; the next post looks up the route again.
 */

enum {
	NO_WAIT_MS = 0,
};

/* Returns whether the request's route is unknown; *qpn becomes its destination. */
static bool lacks_route(const struct soft_qp *qp, uint32_t index, uint32_t *qpn)
{
	/* The request may have been flushed meanwhile. */
	if (index - qp->sq_exec >= qp->sq_head - qp->sq_exec)
		return false;
	*qpn = soft_wqe(qp, index)->rkey;
	return !soft_route_to(qp->routes, *qpn);
}

/* Replaces a route by the caller's reference. */
static void keep(struct soft_routes *routes, uint32_t qpn, struct soft_out *out)
{
	struct soft_out **place = &routes->out[qpn >> SHM_SLOT_BITS & (SHM_SLOT_NUMBERS - 1)], *old = *place;

	*place = out;
	if (old)
		soft_out_put(old);
}

/* Posting must not be a cancellation point. */
static void look_up(struct soft_qp *qp, uint32_t qpn)
{
	struct soft_out *out;
	int before;

	soft_unlock(&qp->lock);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	if (soft_out_get(soft_core, qpn, NO_WAIT_MS, &out) != 0)
		out = NULL;
	pthread_setcancelstate(before, &before);
	soft_lock(&qp->lock);
	keep(qp->routes, qpn, out);
}

void soft_route_and_send(struct soft_qp *qp, uint32_t first)
{
	uint32_t end = qp->sq_head, qpn;

	for (uint32_t i = first; i != end; i++) {
		if (!lacks_route(qp, i, &qpn))
			continue;
		qp->routes->lookups++;
		look_up(qp, qpn);
		qp->routes->lookups--;
	}
	soft_datagram_routed(qp);
	soft_pump(qp);
}

void soft_routes_free(struct soft_routes *routes)
{
	for (uint32_t i = 0; routes && i < SHM_SLOT_NUMBERS; i++)
		if (routes->out[i])
			soft_out_put(routes->out[i]);
	free(routes);
}
