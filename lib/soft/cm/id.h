// SPDX-License-Identifier: BSD-2-Clause
/* Identifiers, and the one device. */
#ifndef SOFT_CM_ID_H
#define SOFT_CM_ID_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "soft/cm/cm.h"

/* The one device, opened on first use, with a domain, and never closed; NULL with errno. */
struct ibv_context *cm_verbs(void);
/* In a child: the device is not open, and nobody holds a lock. */
void cm_id_forked(void);
struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type type);
/* The identifier gets the device and its domain. 0 or an errno value. */
int cm_id_bind_device(struct cm_id *id);

#endif
