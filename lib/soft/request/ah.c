// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address handles: the destination of a datagram. The queue pair's number finds it; addresses
 * travel along so that the receiver can answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/mem/mr.h"
#include "soft/request/datagram.h"
#include "soft/state/core.h"

enum {
	IP_VERSION = 6, /* a global header looks like IPv6's */
	FLOW_LABEL = 0xfffff,
	VERSION_SHIFT = 28,
	CLASS_SHIFT = 20,
	CLASS_MASK = 0xff,
};

/* Returns 0, or EINVAL if this port has no such address. */
static int own_gid(uint8_t index, uint8_t *raw)
{
	union ibv_gid gids[SOFT_MAX_GIDS];

	if (index >= soft_gids(gids, SOFT_MAX_GIDS))
		return EINVAL;
	memcpy(raw, gids[index].raw, sizeof(gids[index].raw));
	return 0;
}

static int fill(struct soft_ah *ah, const struct ibv_ah_attr *attr)
{
	const struct ibv_global_route *grh = &attr->grh;

	ah->header.sl = attr->sl;
	if (!attr->is_global)
		return 0;
	memcpy(ah->address.dgid, grh->dgid.raw, sizeof(ah->address.dgid));
	ah->header.hop_limit = grh->hop_limit;
	ah->header.version_tclass_flow =
		htonl((uint32_t)IP_VERSION << VERSION_SHIFT | (uint32_t)grh->traffic_class << CLASS_SHIFT |
	          (grh->flow_label & FLOW_LABEL));
	return own_gid(grh->sgid_index, ah->address.sgid);
}

SOFT_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct soft_ah *ah = soft_call_fails(__func__) ? NULL : calloc(1, sizeof(*ah));
	int err;

	if (!ah) {
		errno = ENOMEM;
		return NULL;
	}
	err = attr->port_num == SOFT_PORT ? fill(ah, attr) : EINVAL;
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}
	ah->base.context = pd->context;
	ah->base.pd = pd;
	ah->base.handle = atomic_fetch_add(&soft_core->object_serial, 1);
	atomic_fetch_add(&soft_pd(pd)->users, 1);
	return &ah->base;
}

/* Work requests in the queue have copied what they need. */
SOFT_EXPORT int ibv_destroy_ah(struct ibv_ah *base)
{
	atomic_fetch_sub(&soft_pd(base->pd)->users, 1);
	free((struct soft_ah *)(void *)base);
	return 0;
}

/* ---- address handles from received datagrams ---- */

/* Returns our address's index, or -1. */
static int index_of(const union ibv_gid *gid)
{
	union ibv_gid gids[SOFT_MAX_GIDS];
	int n = soft_gids(gids, SOFT_MAX_GIDS);

	for (int i = 0; i < n; i++)
		if (memcmp(&gids[i], gid, sizeof(*gid)) == 0)
			return i;
	return -1;
}

static int turn_round(const struct ibv_grh *grh, struct ibv_global_route *back)
{
	uint32_t first = ntohl(grh->version_tclass_flow);
	int index = index_of(&grh->dgid);

	if (first >> VERSION_SHIFT != IP_VERSION)
		return EPROTONOSUPPORT;
	if (index < 0)
		return EINVAL;
	back->dgid = grh->sgid;
	back->sgid_index = (uint8_t)index;
	back->flow_label = first & FLOW_LABEL;
	back->traffic_class = (uint8_t)(first >> CLASS_SHIFT & CLASS_MASK);
	back->hop_limit = grh->hop_limit;
	return 0;
}

SOFT_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
                                    struct ibv_ah_attr *attr)
{
	int err = 0;

	(void)context;
	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port;
	if (wc->wc_flags & IBV_WC_GRH) {
		attr->is_global = 1;
		err = turn_round(grh, &attr->grh);
	}
	if (!err)
		return 0;
	errno = err;
	return -1;
}

SOFT_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
                                                 uint8_t port)
{
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) == 0 ? ibv_create_ah(pd, &attr) : NULL;
}
