// SPDX-License-Identifier: BSD-2-Clause
/* Identifiers for datagrams: service ID resolution. See sidr.c. */
#ifndef SOFT_CM_SIDR_H
#define SOFT_CM_SIDR_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/cm/cm.h"

enum {
	CM_SIDR_REQ_PRIVATE = 180, /* bytes */
	CM_SIDR_REP_PRIVATE = 136,
	CM_SIDR_UNSUPPORTED = 1, /* no listener */
	CM_SIDR_REJECT = 2,
};

static inline bool cm_is_sidr(const struct cm_id *id)
{
	return id->base.qp_type == IBV_QPT_UD;
}

/* Report an answer, and a refusal. The caller holds cm_lock. */
void cm_sidr_reply(struct cm_id *id, const struct cm_msg *msg);
void cm_sidr_refused(struct cm_id *id, int status, const struct cm_msg *msg);
/* Fills in the address for datagrams, in the thread that fetches the event, without cm_lock. */
void cm_sidr_address(struct rdma_cm_event *event);
/* rdma_accept() for datagrams. Returns 0, or -1 with errno. */
int cm_sidr_accept(struct cm_id *id, const struct rdma_conn_param *param);

#endif
