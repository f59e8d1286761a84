// SPDX-License-Identifier: BSD-2-Clause
/* Messages between connection managers (struct cm_msg). See msg.c. */
#ifndef SOFT_CM_MSG_H
#define SOFT_CM_MSG_H

#include "soft/cm/cm.h"

/*
 * Rejects a connection for which ibv_modify_qp returned `err`; names the side that lacks resources.
 */
void cm_send_unready(struct cm_id *id, int err);
/* Returns 0 or an errno value. */
int cm_send(struct cm_id *id, struct cm_msg *msg, enum cm_type type);
/* Gives an event its private data, padded with 0 to their length in the packet. */
void cm_attach_private(struct cm_event *event, const struct cm_msg *msg, uint8_t length);
void cm_on_listen(void *listener);
void cm_on_message(void *id);
/* Detaches a listener from its connections that have sent no request. The caller holds cm_lock. */
void cm_orphan(struct cm_id *listener);
/* Forgets connections without a request, in a child of fork. */
void cm_msg_forked(void);

#endif
