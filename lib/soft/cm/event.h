// SPDX-License-Identifier: BSD-2-Clause
/* Event channels and events. Callers of cm_event_new, _queue and _post hold cm_lock. */
#ifndef SOFT_CM_EVENT_H
#define SOFT_CM_EVENT_H

#include <rdma/rdma_cma.h>

#include "soft/cm/cm.h"

/* Returns an event without details, or NULL without memory: then the event is lost. */
struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status);
void cm_event_queue(struct cm_id *on, struct cm_event *event);
void cm_event_post(struct cm_id *id, enum rdma_cm_event_type type, int status);
/* Waits for the outcome of a call on a synchronous identifier; returns 0 at once for others. */
int cm_complete(struct cm_id *id);
/*
 * Drops an identifier's unfetched events and their requests, and waits until its fetched ones are
 * acknowledged. Takes cm_lock.
 */
void cm_event_forget(struct cm_id *id);

#endif
