// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibv_post_send of datagrams: immediately, or by the queue, after looking up routes
 * (datagram_route.c).
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>

#include "soft/base/adversary.h"
#include "soft/post/post.h"
#include "soft/request/datagram.h"
#include "soft/state/qp.h"

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
