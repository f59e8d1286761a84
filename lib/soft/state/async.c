// SPDX-License-Identifier: BSD-2-Clause
/* Asynchronous events: a list per context, whose entries async_fd counts. */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "soft/base/base.h"
#include "soft/base/event_sem.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

void soft_async_raise(struct ibv_context *base, const struct ibv_async_event *event, uint32_t *raised)
{
	struct soft_context *context = soft_context(base);
	struct soft_event *item = calloc(1, sizeof(*item));

	if (!item)
		return;
	item->event = *event;
	pthread_mutex_lock(&context->event_lock);
	soft_list_add_tail(&context->events, &item->list);
	++*raised;
	if (!event_sem_post(base->async_fd)) {
		--*raised;
		soft_list_del(&item->list);
		free(item);
	}
	pthread_mutex_unlock(&context->event_lock);
}

void soft_async_qp(struct soft_qp *qp, enum ibv_event_type type)
{
	struct ibv_async_event event = { .element.qp = &qp->ex.qp_base, .event_type = type };

	soft_async_raise(qp->ex.qp_base.context, &event, &qp->async_raised);
}

static struct soft_event *take(struct soft_context *context)
{
	struct soft_event *item = NULL;

	pthread_mutex_lock(&context->event_lock);
	if (!soft_list_empty(&context->events)) {
		item = soft_container(context->events.next, struct soft_event, list);
		soft_list_del(&item->list);
	}
	pthread_mutex_unlock(&context->event_lock);
	return item;
}

SOFT_EXPORT int ibv_get_async_event(struct ibv_context *base, struct ibv_async_event *event)
{
	struct soft_event *item;

	do {
		if (event_sem_wait(base->async_fd) != 0)
			return -1;
	} while (!(item = take(soft_context(base))));
	*event = item->event;
	free(item);
	return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
	pthread_mutex_lock(mutex);
	++*completed;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

SOFT_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		acknowledge(&event->element.cq->mutex, &event->element.cq->cond, &event->element.cq->async_events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		acknowledge(&event->element.qp->mutex, &event->element.qp->cond, &event->element.qp->events_completed);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		acknowledge(&event->element.srq->mutex, &event->element.srq->cond, &event->element.srq->events_completed);
		break;
	default:
		/* Events of the device or its port belong to no object. */
		break;
	}
}

static bool concerns(const struct soft_event *item, const void *element)
{
	/* The union's pointers share an offset, and a port number equals no pointer. */
	return (const void *)item->event.element.qp == element;
}

uint32_t soft_async_forget(struct ibv_context *base, const void *element, uint32_t *raised)
{
	struct soft_context *context = soft_context(base);
	uint32_t expected;

	pthread_mutex_lock(&context->event_lock);
	for (struct soft_list *i = context->events.next, *next; i != &context->events; i = next) {
		struct soft_event *item = soft_container(i, struct soft_event, list);

		next = i->next;
		if (!concerns(item, element))
			continue;
		soft_list_del(i);
		free(item);
		event_sem_forget(base->async_fd);
		--*raised;
	}
	expected = *raised;
	pthread_mutex_unlock(&context->event_lock);
	return expected;
}

void soft_async_await(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed, uint32_t expected)
{
	pthread_mutex_lock(mutex);
	while (*completed != expected)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
}
