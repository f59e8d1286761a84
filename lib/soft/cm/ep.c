// SPDX-License-Identifier: BSD-2-Clause
/* Endpoints: synchronous identifiers, made from results of rdma_getaddrinfo. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "soft/base/export.h"
#include "soft/cm/cm.h"

enum {
	RESOLVE_MS = 2000,
};

static int keep_attr(struct cm_id *id, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	if (pd)
		id->base.pd = pd;
	if (!attr)
		return 0;
	id->qp_init_attr = malloc(sizeof(*attr));
	if (!id->qp_init_attr)
		return ENOMEM;
	*id->qp_init_attr = *attr;
	return 0;
}

static int keep_connect_data(struct cm_id *id, const struct rdma_addrinfo *res)
{
	if (!res->ai_connect_len)
		return 0;
	id->connect = malloc(res->ai_connect_len);
	if (!id->connect)
		return ENOMEM;
	memcpy(id->connect, res->ai_connect, res->ai_connect_len);
	id->connect_len = res->ai_connect_len;
	return 0;
}

static int prepare_passive(struct cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
                           struct ibv_qp_init_attr *attr)
{
	if (rdma_bind_addr(&id->base, res->ai_src_addr) != 0)
		return errno;
	return keep_attr(id, pd, attr);
}

static int prepare_active(struct cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (rdma_resolve_addr(&id->base, res->ai_src_addr, res->ai_dst_addr, RESOLVE_MS) != 0 ||
	    rdma_resolve_route(&id->base, RESOLVE_MS) != 0)
		return errno;
	if (attr && rdma_create_qp(&id->base, pd, attr) != 0)
		return errno;
	return keep_connect_data(id, res);
}

SOFT_EXPORT int rdma_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *res, struct ibv_pd *pd,
                               struct ibv_qp_init_attr *attr)
{
	struct rdma_cm_id *base;
	int err;

	if (rdma_create_id(NULL, &base, NULL, (enum rdma_port_space)res->ai_port_space) != 0)
		return -1;
	if (attr)
		attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	if (res->ai_flags & RAI_PASSIVE)
		err = prepare_passive(cm_id(base), res, pd, attr);
	else
		err = prepare_active(cm_id(base), res, pd, attr);
	if (err) {
		rdma_destroy_ep(base);
		return cm_fail(err);
	}
	*out = base;
	return 0;
}

SOFT_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

SOFT_EXPORT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **out)
{
	struct cm_id *listener = cm_id(listen);
	struct rdma_cm_event *event;
	int err = 0;

	if (!listener->sync || listener->state != CM_LISTENING)
		return cm_fail(EINVAL);
	if (listen->event) {
		rdma_ack_cm_event(listen->event);
		listen->event = NULL;
	}
	if (rdma_get_cm_event(listen->channel, &event) != 0)
		return -1;
	if (event->status)
		err = event->status < 0 ? -event->status : event->status;
	else if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		err = EINVAL;
	if (!err && listener->qp_init_attr) {
		struct ibv_qp_init_attr attr = *listener->qp_init_attr;

		if (rdma_create_qp(event->id, listen->pd, &attr) != 0)
			err = errno;
	}
	if (err) {
		/* The caller may read the event; the next call acknowledges it. */
		listen->event = event;
		return cm_fail(err);
	}
	*out = event->id;
	event->id->event = event;
	return 0;
}
