// SPDX-License-Identifier: BSD-2-Clause
/*
 * Identifiers for datagrams (RDMA_PS_UDP): service ID resolution.
 *
 * DESIGN NOTES
 *
 * Instead of a connection there is one question and one answer, as in the service ID resolution
 * (SIDR) of the InfiniBand CM: rdma_connect asks, rdma_accept answers with a queue pair's number.
 * They travel as CM_REQ and CM_REP (or CM_REJ). Then both identifiers are CM_DISCONNECTED, and
 * neither side learns of the other's end. Their queue pairs are always ready.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <string.h>

#include "soft/base/limits.h"
#include "soft/cm/cm.h"

enum {
	HOP_LIMIT = 64,
	THE_LID = 1, /* of every process */
};

static void answered(struct cm_id *id, enum rdma_cm_event_type type, int status, const struct cm_msg *msg)
{
	struct cm_event *event = cm_event_new(id, type, status);

	id->state = CM_DISCONNECTED;
	if (!event)
		return;
	if (msg)
		cm_attach_private(event, msg, CM_SIDR_REP_PRIVATE);
	event->base.param.ud.qp_num = msg ? msg->qpn : 0;
	event->base.param.ud.qkey = type == RDMA_CM_EVENT_ESTABLISHED ? RDMA_UDP_QKEY : 0;
	cm_event_queue(id, event);
}

void cm_sidr_reply(struct cm_id *id, const struct cm_msg *msg)
{
	answered(id, RDMA_CM_EVENT_ESTABLISHED, 0, msg);
}

void cm_sidr_refused(struct cm_id *id, int status, const struct cm_msg *msg)
{
	answered(id, RDMA_CM_EVENT_UNREACHABLE, status, msg);
}

/* Returns the GID index of the identifier's address, or 0 if the port has none (127.0.0.2). */
static uint8_t index_of(struct ibv_context *verbs, const union ibv_gid *gid)
{
	union ibv_gid own;

	for (uint8_t i = 0; i < SOFT_MAX_GIDS && ibv_query_gid(verbs, SOFT_PORT, i, &own) == 0; i++)
		if (memcmp(&own, gid, sizeof(own)) == 0)
			return i;
	return 0;
}

void cm_sidr_address(struct rdma_cm_event *event)
{
	const struct rdma_addr *addr = &event->id->route.addr;

	event->param.ud.ah_attr = (struct ibv_ah_attr){
		.grh = { .dgid = addr->addr.ibaddr.dgid,
		         .sgid_index = index_of(event->id->verbs, &addr->addr.ibaddr.sgid),
		         .hop_limit = HOP_LIMIT },
		.dlid = THE_LID,
		.is_global = 1,
		.port_num = event->id->port_num,
	};
}

int cm_sidr_accept(struct cm_id *id, const struct rdma_conn_param *param)
{
	struct cm_msg msg = { .qpn = id->base.qp ? id->base.qp->qp_num : param->qp_num,
		                  .private_len = param->private_data_len };
	int err = EINVAL;

	if (param->private_data_len > CM_SIDR_REP_PRIVATE)
		return cm_fail(EINVAL);
	if (param->private_data_len)
		memcpy(msg.private_data, param->private_data, param->private_data_len);
	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_REQUESTED) {
		err = cm_send(id, &msg, CM_REP);
		id->state = CM_DISCONNECTED;
	}
	pthread_mutex_unlock(&cm_lock);
	if (err)
		return cm_fail(err);
	/* The library acknowledges the event of a synchronous request. */
	if (id->sync && id->base.event) {
		rdma_ack_cm_event(id->base.event);
		id->base.event = NULL;
	}
	return 0;
}
