// SPDX-License-Identifier: BSD-2-Clause
/* cm.h - a connection manager's events, and an address to listen at */
#ifndef SOFT_CM_H
#define SOFT_CM_H

#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <string.h>

#define EVENT_MS 30000 /* of events that come */

/* Returns the next event of a channel within some time; NULL: there is none. */
static inline struct rdma_cm_event *get_within(struct rdma_event_channel *channel, int ms)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&ready, 1, ms) != 1 || rdma_get_cm_event(channel, &event) != 0)
		return NULL;
	return event;
}

static inline struct rdma_cm_event *get(struct rdma_event_channel *channel)
{
	return get_within(channel, EVENT_MS);
}

static inline int type_of_next(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = get(channel);
	int type = event ? (int)event->event : -1;

	if (event)
		rdma_ack_cm_event(event);
	return type;
}

/* Finds the first IPv4 address for which rdma_cm has a device. */
static inline bool find_addr(struct sockaddr_in *addr, enum rdma_port_space space)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ifaddrs *list;
	bool found = false;

	if (!channel)
		return false;
	if (getifaddrs(&list) != 0)
		list = NULL;
	for (struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
		struct rdma_cm_id *id;

		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || rdma_create_id(channel, &id, NULL, space) != 0)
			continue;
		memcpy(addr, i->ifa_addr, sizeof(*addr));
		addr->sin_port = 0;
		found = rdma_bind_addr(id, (struct sockaddr *)addr) == 0 && id->verbs;
		rdma_destroy_id(id);
	}
	freeifaddrs(list);
	rdma_destroy_event_channel(channel);
	return found;
}

#endif
