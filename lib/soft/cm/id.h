// SPDX-License-Identifier: BSD-2-Clause
/* Identifiers, and the only device. */
#ifndef SOFT_CM_ID_H
#define SOFT_CM_ID_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "soft/cm/cm.h"

/*
 * Returns the device, or NULL with errno. The first call opens it and its domain; it is never
 * closed.
 */
struct ibv_context *cm_verbs(void);
/* Resets device and locks in a child of fork. */
void cm_id_forked(void);
struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type type);
/* Sets an identifier's device and domain. Returns 0 or an errno value. */
int cm_id_bind_device(struct cm_id *id);

#endif
