// SPDX-License-Identifier: BSD-2-Clause
/* Event channels and events. A channel's descriptor counts its unfetched events. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/base/event_sem.h"
#include "soft/cm/cm.h"
#include "soft/peer/peer.h"

static struct cm_channel *cm_channel(struct rdma_event_channel *channel)
{
	return (struct cm_channel *)channel;
}

SOFT_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cm_channel *channel;

	if (softverbs_adversary_fails(__func__)) {
		errno = ENOMEM;
		return NULL;
	}
	if (!cm_verbs())
		return NULL;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	channel->base.fd = event_sem_new();
	if (channel->base.fd < 0) {
		free(channel);
		return NULL;
	}
	soft_list_init(&channel->events);
	return &channel->base;
}

SOFT_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *base)
{
	struct cm_channel *channel = cm_channel(base);

	close(base->fd);
	free(channel);
}

/* ---- queueing; under cm_lock ---- */

struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct cm_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->base.id = &id->base;
	event->base.event = type;
	event->base.status = status;
	soft_list_init(&event->list);
	return event;
}

void cm_event_queue(struct cm_id *on, struct cm_event *event)
{
	struct cm_channel *channel = cm_channel(on->base.channel);

	soft_list_add_tail(&channel->events, &event->list);
	event_sem_post(channel->base.fd);
}

void cm_event_post(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct cm_event *event = cm_event_new(id, type, status);

	if (event)
		cm_event_queue(id, event);
}

/* ---- fetching ---- */

/* Counts a fetched event for its identifier and, if it is a request, for the listener. */
static void count_fetched(struct cm_event *event)
{
	cm_id(event->base.id)->events_fetched++;
	if (event->base.listen_id) {
		cm_id(event->base.listen_id)->events_fetched++;
		cm_id(event->base.listen_id)->requests--;
		cm_id(event->base.id)->listener = NULL;
	}
}

static struct cm_event *take(struct cm_channel *channel)
{
	struct cm_event *event = NULL;

	pthread_mutex_lock(&cm_lock);
	if (!soft_list_empty(&channel->events)) {
		event = soft_container(channel->events.next, struct cm_event, list);
		soft_list_del(&event->list);
		count_fetched(event);
	}
	pthread_mutex_unlock(&cm_lock);
	return event;
}

/* Reports to the peer why the queue pair cannot become ready. */
static void unready(struct cm_id *id, int err)
{
	pthread_mutex_lock(&cm_lock);
	id->state = CM_DISCONNECTED;
	cm_send_unready(id, err);
	pthread_mutex_unlock(&cm_lock);
}

/* Sends RTU. Returns 0, or an errno value if the peer has given up since it accepted. */
static int confirm(struct cm_id *id)
{
	struct cm_msg msg = { 0 };
	int err = ECONNRESET;

	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_RESPONDED)
		err = cm_send(id, &msg, CM_RTU);
	id->state = err ? CM_DISCONNECTED : CM_CONNECTED;
	pthread_mutex_unlock(&cm_lock);
	if (err)
		cm_qp_error(id);
	return err;
}

/* Finishes the handshake, if the identifier has a queue pair. */
static void respond(struct cm_event *event)
{
	struct cm_id *id = cm_id(event->base.id);
	int err;

	if (!id->base.qp)
		return;
	err = cm_qp_ready(id);
	if (err)
		unready(id, err);
	else
		err = confirm(id);
	event->base.event = err ? RDMA_CM_EVENT_CONNECT_ERROR : RDMA_CM_EVENT_ESTABLISHED;
	event->base.status = -err;
	/* The peer reported its shortage while this side made its queue pair ready. */
	if (soft_is_remote_shortage(err)) {
		event->base.event = RDMA_CM_EVENT_REJECTED;
		event->base.status = CM_REJ_NO_RESOURCES;
		memset(event->private_data, 0, sizeof(event->private_data));
		event->base.param.conn.private_data_len = CM_REJ_PRIVATE;
	}
}

static int process(struct cm_event *event)
{
	struct cm_id *id = cm_id(event->base.id);

	switch (event->base.event) {
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		respond(event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		cm_qp_error(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (cm_is_sidr(id))
			cm_sidr_address(&event->base);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (cm_id(event->base.listen_id)->sync)
			return rdma_migrate_id(&id->base, NULL);
		break;
	default:
		break;
	}
	return 0;
}

/* Rejects a request for which no channel can be made. Keeps errno. */
static void drop_request(struct cm_event *event)
{
	struct cm_id *id = cm_id(event->base.id);
	int err = errno;

	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_REQUESTED) {
		cm_send_unready(id, err);
		id->state = CM_DISCONNECTED;
	}
	pthread_mutex_unlock(&cm_lock);
	rdma_ack_cm_event(&event->base);
	rdma_destroy_id(&id->base);
	errno = err;
}

SOFT_EXPORT int rdma_get_cm_event(struct rdma_event_channel *base, struct rdma_cm_event **out)
{
	struct cm_event *event;

	if (!base || !out)
		return cm_fail(EINVAL);
	do {
		if (event_sem_wait(base->fd) != 0)
			return -1;
	} while (!(event = take(cm_channel(base))));
	*out = &event->base;
	if (process(event) == 0)
		return 0;
	drop_request(event);
	return -1;
}

SOFT_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *base)
{
	struct cm_event *event = soft_container(base, struct cm_event, base);

	if (!base)
		return cm_fail(EINVAL);
	pthread_mutex_lock(&cm_lock);
	cm_id(base->id)->events_acked++;
	if (base->listen_id)
		cm_id(base->listen_id)->events_acked++;
	pthread_cond_broadcast(&cm_acked);
	pthread_mutex_unlock(&cm_lock);
	free(event);
	return 0;
}

int cm_complete(struct cm_id *id)
{
	struct rdma_cm_event *event;

	if (!id->sync)
		return 0;
	if (id->base.event) {
		rdma_ack_cm_event(id->base.event);
		id->base.event = NULL;
	}
	if (rdma_get_cm_event(id->base.channel, &id->base.event) != 0)
		return -1;
	event = id->base.event;
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return cm_fail(ECONNREFUSED);
	if (event->status)
		return cm_fail(event->status < 0 ? -event->status : event->status);
	return 0;
}

/* ---- leaving ---- */

static struct cm_event *find_unfetched(struct cm_channel *channel, const struct cm_id *id)
{
	for (struct soft_list *i = channel->events.next; i != &channel->events; i = i->next) {
		struct cm_event *event = soft_container(i, struct cm_event, list);

		if (event->base.id == &id->base || event->base.listen_id == &id->base)
			return event;
	}
	return NULL;
}

void cm_event_forget(struct cm_id *id)
{
	struct cm_channel *channel = cm_channel(id->base.channel);
	struct cm_event *event;

	pthread_mutex_lock(&cm_lock);
	while ((event = find_unfetched(channel, id))) {
		struct rdma_cm_id *request = event->base.id;

		soft_list_del(&event->list);
		event_sem_forget(channel->base.fd);
		free(event);
		if (request == &id->base)
			continue;
		/* This rejects the request. */
		pthread_mutex_unlock(&cm_lock);
		rdma_destroy_id(request);
		pthread_mutex_lock(&cm_lock);
	}
	while (id->events_fetched != id->events_acked)
		pthread_cond_wait(&cm_acked, &cm_lock);
	pthread_mutex_unlock(&cm_lock);
}

/* Moves unfetched events to another channel, after fetched ones have been acknowledged. */
static void move_events(struct cm_id *id, struct cm_channel *from, struct cm_channel *to)
{
	struct cm_event *event;

	while (id->events_fetched != id->events_acked && !id->sync)
		pthread_cond_wait(&cm_acked, &cm_lock);
	id->base.channel = &to->base;
	while ((event = find_unfetched(from, id))) {
		soft_list_del(&event->list);
		event_sem_forget(from->base.fd);
		soft_list_add_tail(&to->events, &event->list);
		event_sem_post(to->base.fd);
	}
}

SOFT_EXPORT int rdma_migrate_id(struct rdma_cm_id *base, struct rdma_event_channel *channel)
{
	struct cm_id *id = cm_id(base);
	struct cm_channel *own = id->own_channel, *to = channel ? cm_channel(channel) : NULL;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (!to) {
		to = cm_channel(rdma_create_event_channel());
		if (!to)
			return -1;
	}
	/* The library acknowledges the event of the last synchronous call. */
	if (id->sync && base->event) {
		rdma_ack_cm_event(base->event);
		base->event = NULL;
	}
	pthread_mutex_lock(&cm_lock);
	/* This thread fetches the request's own event, and acknowledges it later. */
	if (channel)
		move_events(id, cm_channel(base->channel), to);
	else
		base->channel = &to->base;
	id->sync = !channel;
	id->own_channel = channel ? NULL : to;
	pthread_mutex_unlock(&cm_lock);
	if (own)
		rdma_destroy_event_channel(&own->base);
	return 0;
}

SOFT_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		[RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
		[RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
		[RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
		[RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
		[RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
		[RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
		[RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
		[RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
		[RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
		[RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
		[RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
		[RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
		[RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
		[RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
		[RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
		[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};

	return (size_t)event < sizeof(names) / sizeof(names[0]) && names[event] ? names[event] : "UNKNOWN EVENT";
}
