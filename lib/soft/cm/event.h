// SPDX-License-Identifier: BSD-2-Clause
/* Event channels and events. cm_event_new, _queue and _post are called under cm_lock. */
#ifndef SOFT_CM_EVENT_H
#define SOFT_CM_EVENT_H

#include <rdma/rdma_cma.h>

#include "soft/cm/cm.h"

/* An event without details; NULL if there is no memory, and then it is lost. */
struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status);
void cm_event_queue(struct cm_id *on, struct cm_event *event);
void cm_event_post(struct cm_id *id, enum rdma_cm_event_type type, int status);
/* Wait for the outcome of a call on a synchronous identifier; 0 at once for others. */
int cm_complete(struct cm_id *id);
/*
 * Unfetched events of an identifier, and the requests that only they knew of, go away with it.
 * Takes the lock.
 */
void cm_event_forget(struct cm_id *id);

#endif
