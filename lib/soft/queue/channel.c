// SPDX-License-Identifier: BSD-2-Clause
/* Completion channels: queues with events that wait, and a descriptor that counts the events. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "soft/base/adversary.h"
#include "soft/base/event_sem.h"
#include "soft/base/export.h"
#include "soft/base/list.h"
#include "soft/queue/cq.h"

static struct soft_channel *soft_channel(struct ibv_comp_channel *channel)
{
	return (struct soft_channel *)channel;
}

SOFT_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct soft_channel *channel = soft_call_fails(__func__) ? NULL : calloc(1, sizeof(*channel));

	if (!channel) {
		errno = ENOMEM;
		return NULL;
	}
	channel->base.fd = event_sem_new();
	if (channel->base.fd < 0) {
		free(channel);
		return NULL;
	}
	channel->base.context = context;
	pthread_mutex_init(&channel->lock, NULL);
	soft_list_init(&channel->ready);
	return &channel->base;
}

SOFT_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *base)
{
	struct soft_channel *channel = soft_channel(base);

	if (__atomic_load_n(&base->refcnt, __ATOMIC_RELAXED) != 0)
		return soft_result(EBUSY);
	close(base->fd);
	pthread_mutex_destroy(&channel->lock);
	free(channel);
	return 0;
}

void soft_channel_raise(struct soft_cq *cq)
{
	struct soft_channel *channel = soft_channel(cq->base.channel);

	if (!channel)
		return;
	pthread_mutex_lock(&channel->lock);
	cq->events_queued++;
	cq->events_raised++;
	if (soft_list_empty(&cq->event))
		soft_list_add_tail(&channel->ready, &cq->event);
	if (!event_sem_post(channel->base.fd))
		cq->overrun = true;
	pthread_mutex_unlock(&channel->lock);
}

static struct soft_cq *take(struct soft_channel *channel)
{
	struct soft_cq *cq = NULL;

	pthread_mutex_lock(&channel->lock);
	if (!soft_list_empty(&channel->ready)) {
		cq = soft_container(channel->ready.next, struct soft_cq, event);
		soft_list_del(&cq->event);
		if (--cq->events_queued)
			soft_list_add_tail(&channel->ready, &cq->event);
	}
	pthread_mutex_unlock(&channel->lock);
	return cq;
}

SOFT_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *base, struct ibv_cq **cq_out, void **cq_context)
{
	struct soft_cq *cq;

	do {
		if (event_sem_wait(base->fd) != 0)
			return -1;
	} while (!(cq = take(soft_channel(base))));
	*cq_out = &cq->base;
	*cq_context = cq->base.cq_context;
	return 0;
}

SOFT_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

void soft_channel_forget(struct soft_cq *cq)
{
	struct soft_channel *channel = soft_channel(cq->base.channel);

	if (!channel)
		return;
	pthread_mutex_lock(&channel->lock);
	for (; cq->events_queued; cq->events_queued--, cq->events_raised--)
		event_sem_forget(channel->base.fd);
	soft_list_del(&cq->event);
	pthread_mutex_unlock(&channel->lock);
	pthread_mutex_lock(&cq->base.mutex);
	while (cq->base.comp_events_completed != cq->events_raised)
		pthread_cond_wait(&cq->base.cond, &cq->base.mutex);
	pthread_mutex_unlock(&cq->base.mutex);
}
