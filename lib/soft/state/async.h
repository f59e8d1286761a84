// SPDX-License-Identifier: BSD-2-Clause
/* Asynchronous events, which the program fetches. */
#ifndef SOFT_ASYNC_H
#define SOFT_ASYNC_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>

#include "soft/state/context.h"
#include "soft/state/qp.h"

struct soft_event {
	struct soft_list list; /* in context->events */
	struct ibv_async_event event;
};

/*
 * Queues an event and counts it in *raised, under the context's event lock. Without memory the
 * event is lost and not counted.
 */
void soft_async_raise(struct ibv_context *context, const struct ibv_async_event *event, uint32_t *raised);
void soft_async_qp(struct soft_qp *qp, enum ibv_event_type type);
/*
 * Drops unfetched events of an object, and waits for acknowledgements of the others.
 */
void soft_async_forget(struct ibv_context *context, const void *element, pthread_mutex_t *mutex, pthread_cond_t *cond,
                       const uint32_t *completed, uint32_t *raised);

#endif
