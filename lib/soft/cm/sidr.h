// SPDX-License-Identifier: BSD-2-Clause
/* Identifiers for datagrams: where a service is, asked and told. See sidr.c. */
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
	CM_SIDR_UNSUPPORTED = 1, /* nobody listens */
	CM_SIDR_REJECT = 2,
};

static inline bool cm_is_sidr(const struct cm_id *id)
{
	return id->base.qp_type == IBV_QPT_UD;
}

/* The answer, and that there is none. Under cm_lock. */
void cm_sidr_reply(struct cm_id *id, const struct cm_msg *msg);
void cm_sidr_refused(struct cm_id *id, int status, const struct cm_msg *msg);
/* By the thread that fetches the event: where the datagrams go. Without cm_lock. */
void cm_sidr_address(struct rdma_cm_event *event);
/* rdma_accept. -1 with errno. */
int cm_sidr_accept(struct cm_id *id, const struct rdma_conn_param *param);

#endif
