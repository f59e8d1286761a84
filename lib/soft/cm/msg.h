// SPDX-License-Identifier: BSD-2-Clause
/* Messages between connection managers (struct cm_msg). See msg.c. */
#ifndef SOFT_CM_MSG_H
#define SOFT_CM_MSG_H

#include "soft/cm/cm.h"

/*
 * Refuse, because this side's queue pair could not be made ready: say which side is to blame. err
 * is the errno value of ibv_modify_qp.
 */
void cm_send_unready(struct cm_id *id, int err);
/* 0 or an errno value. */
int cm_send(struct cm_id *id, struct cm_msg *msg, enum cm_type type);
/*
 * Private data in an event always has the length of its place in the packet; what was not sent is
 * zero.
 */
void cm_attach_private(struct cm_event *event, const struct cm_msg *msg, uint8_t length);
void cm_on_listen(void *listener);
void cm_on_message(void *id);
/* Under cm_lock: connections to a listener that have not said anything yet lose it. */
void cm_orphan(struct cm_id *listener);
/* In a child: nobody is about to connect. */
void cm_msg_forked(void);

#endif
