// SPDX-License-Identifier: BSD-2-Clause
/*
 * fake_cm.c - the rdma_ part of the fake device: identifiers, connection events, addresses; see
 * fake_verbs.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_internal.h"

#define REQUEST_DATA_BYTES 56 /* what arrives of private data, padded with zeros, over InfiniBand */
#define ANSWER_DATA_BYTES 196
#define REJECT_DATA_BYTES 148
#define REJECTED_NO_LISTENER 8
#define REJECTED_BY_CONSUMER 28

static struct fake_id *ids;
static struct fake_event *held; /* connection requests */
static uint16_t next_port = 20000;

/*
 * A kernel stands between the two ends of a connection: what one has done before it connects is
 * seen by the other. So a race detector shall see this lock; the one of the data path it shall not.
 */
static pthread_mutex_t kernel = PTHREAD_MUTEX_INITIALIZER;

static void kernel_lock(void)
{
	pthread_mutex_lock(&kernel);
	fake_lock();
}

static void kernel_unlock(void)
{
	fake_unlock();
	pthread_mutex_unlock(&kernel);
}

/* Addresses of this machine: one with a device, one without, loopback. */

struct address {
	struct ifaddrs entry;
	struct sockaddr_in addr;
	char name[8];
};

int getifaddrs(struct ifaddrs **list)
{
	static const char *const texts[] = { "127.0.0.1", "10.9.0.2", FAKE_ADDR };
	static const char *const names[] = { "lo", "eth0", "ib0" };
	struct address *addresses = calloc(3, sizeof(*addresses));

	if (!addresses)
		return -1;
	for (int i = 0; i < 3; i++) {
		struct address *address = &addresses[i];

		memcpy(address->name, names[i], strlen(names[i]) + 1);
		address->addr.sin_family = AF_INET;
		inet_pton(AF_INET, texts[i], &address->addr.sin_addr);
		address->entry.ifa_name = address->name;
		address->entry.ifa_flags = IFF_UP;
		address->entry.ifa_addr = (struct sockaddr *)&address->addr;
		address->entry.ifa_next = i < 2 ? &addresses[i + 1].entry : NULL;
	}
	*list = &addresses->entry;
	return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
	free(list);
}

/* Events. With the lock. */

static void append_event(struct fake_channel *channel, struct fake_event *event)
{
	struct fake_event **at = &channel->events;

	while (*at)
		at = &(*at)->next;
	event->next = NULL;
	*at = event;
	fake_signal(channel->ibv.fd);
}

static struct fake_channel *channel_of(const struct fake_id *id)
{
	return (struct fake_channel *)id->ibv.channel;
}

static struct fake_event *make_event(struct fake_id *id, enum rdma_cm_event_type type, int status, const void *data,
                                     size_t data_bytes, size_t padded_bytes)
{
	struct fake_event *event = calloc(1, sizeof(*event));

	event->event.id = &id->ibv;
	event->event.event = type;
	event->event.status = status;
	event->event.listen_id = id->listener ? &id->listener->ibv : NULL;
	if (data)
		memcpy(event->data, data, data_bytes);
	if (padded_bytes) {
		event->event.param.conn.private_data = event->data;
		event->event.param.conn.private_data_len = (uint8_t)padded_bytes;
	}
	return event;
}

/* Whether the fault takes it. */
static bool lost(struct fake_event *event)
{
	if (!fake_event_fault(rdma_event_str(event->event.event)))
		return false;
	free(event);
	return true;
}

static void tell(struct fake_id *id, enum rdma_cm_event_type type, int status)
{
	size_t padded = type == RDMA_CM_EVENT_REJECTED ? REJECT_DATA_BYTES : 0;
	struct fake_event *event = make_event(id, type, status, NULL, 0, padded);

	if (!lost(event))
		append_event(channel_of(id), event);
}

static void forget_id(struct fake_id *id)
{
	struct fake_id **at = &ids;

	while (*at != id)
		at = &(*at)->next;
	*at = id->next;
	fake_count(FAKE_ID, -1);
	free(id);
}

const char *rdma_event_str(enum rdma_cm_event_type type)
{
	static const char *const names[] = {
		"ADDR_RESOLVED",  "ADDR_ERROR",      "ROUTE_RESOLVED", "ROUTE_ERROR",   "CONNECT_REQUEST", "CONNECT_RESPONSE",
		"CONNECT_ERROR",  "UNREACHABLE",     "REJECTED",       "ESTABLISHED",   "DISCONNECTED",    "DEVICE_REMOVAL",
		"MULTICAST_JOIN", "MULTICAST_ERROR", "ADDR_CHANGE",    "TIMEWAIT_EXIT",
	};

	return (unsigned)type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}

/* Channels. */

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct fake_channel *channel;

	if (fake_fault("rdma_create_event_channel")) {
		errno = EMFILE;
		return NULL;
	}
	channel = calloc(1, sizeof(*channel));
	channel->ibv.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	channel->context = fake_context_new();
	kernel_lock();
	fake_count(FAKE_CHANNEL, 1);
	kernel_unlock();
	return &channel->ibv;
}

void rdma_destroy_event_channel(struct rdma_event_channel *ibv)
{
	struct fake_channel *channel = (struct fake_channel *)ibv;

	kernel_lock();
	for (struct fake_id *id = ids; id; id = id->next) {
		if (id->ibv.channel == ibv)
			fake_misuse("rdma_destroy_event_channel: identifiers are left");
	}
	fake_count(FAKE_CHANNEL, -1);
	kernel_unlock();
	fake_context_free(channel->context);
	close(ibv->fd);
	free(channel);
}

/*
 * The active side's library makes its queue pair ready when the answer comes; then the passive side
 * gets its event.
 */
static void take_answer(struct fake_id *id, struct fake_event *event)
{
	event->event.event = RDMA_CM_EVENT_ESTABLISHED;
	id->state = ID_CONNECTED;
	if (id->ibv.qp)
		id->ibv.qp->state = IBV_QPS_RTS;
	if (id->other) {
		id->other->state = ID_CONNECTED;
		tell(id->other, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
}

static void take_event(struct fake_event *event)
{
	struct fake_id *id = (struct fake_id *)event->event.id;

	id->unacked++;
	if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		id->listener = NULL;
		id->state = ID_REQUESTED;
	}
	if (event->event.event == RDMA_CM_EVENT_CONNECT_RESPONSE)
		take_answer(id, event);
	fake_count(FAKE_EVENT, 1);
}

/* Delays a rank that is about to fetch an answer, as if it were not scheduled. */
static void starve(struct fake_channel *channel)
{
	bool answered;

	kernel_lock();
	answered = channel->events && channel->events->event.event == RDMA_CM_EVENT_CONNECT_RESPONSE;
	kernel_unlock();
	if (answered && fake_config.late_answer_ms)
		usleep((useconds_t)fake_config.late_answer_ms * 1000);
}

int rdma_get_cm_event(struct rdma_event_channel *ibv, struct rdma_cm_event **out)
{
	struct fake_channel *channel = (struct fake_channel *)ibv;
	struct fake_event *event;

	starve(channel);
	kernel_lock();
	event = channel->events;
	if (event && fake_fault("rdma_get_cm_event")) {
		kernel_unlock();
		errno = EINTR;
		return -1;
	}
	if (event) {
		channel->events = event->next;
		take_event(event);
	}
	if (!channel->events)
		fake_unsignal(ibv->fd);
	kernel_unlock();
	if (!event) {
		errno = EAGAIN;
		return -1;
	}
	*out = &event->event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	kernel_lock();
	((struct fake_id *)event->id)->unacked--;
	fake_count(FAKE_EVENT, -1);
	kernel_unlock();
	free(event);
	return 0;
}

/* Identifiers. */

static struct fake_id *new_id(struct rdma_event_channel *channel, void *context)
{
	struct fake_id *id = calloc(1, sizeof(*id));

	id->ibv.channel = channel;
	id->ibv.context = context;
	id->ibv.ps = RDMA_PS_TCP;
	id->ibv.port_num = 1;
	id->next = ids;
	ids = id;
	fake_count(FAKE_ID, 1);
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context,
                   enum rdma_port_space space)
{
	(void)space;
	if (fake_config.shortage) {
		errno = fake_config.shortage;
		return -1;
	}
	if (fake_fault("rdma_create_id")) {
		errno = ENOMEM;
		return -1;
	}
	kernel_lock();
	*out = &new_id(channel, context)->ibv;
	kernel_unlock();
	return 0;
}

static void drop_events(struct fake_event **at, const struct fake_id *id)
{
	while (*at) {
		struct fake_event *event = *at;

		if (event->event.id != &id->ibv) {
			at = &event->next;
			continue;
		}
		*at = event->next;
		free(event);
	}
}

/* The other end learns of it as the protocol would tell it. */
static void part(struct fake_id *id)
{
	struct fake_id *other = id->other;

	id->other = NULL;
	if (!other)
		return;
	other->other = NULL;
	if (id->state == ID_CONNECTED)
		tell(other, RDMA_CM_EVENT_DISCONNECTED, 0);
	else if (other->state == ID_ACCEPTED || other->state == ID_CONNECT)
		tell(other, RDMA_CM_EVENT_REJECTED, REJECTED_BY_CONSUMER);
	else if (other->listener) { /* no one has fetched the request yet: it is gone with its sender */
		drop_events(&channel_of(other)->events, other);
		drop_events(&held, other);
		forget_id(other);
	}
}

/* Requests to a listener that ends, not yet taken. */
static void refuse_pending(struct fake_id *listener)
{
	struct fake_id *next;

	for (struct fake_id *id = ids; id; id = next) {
		next = id->next;
		if (id->listener != listener)
			continue;
		drop_events(&channel_of(listener)->events, id);
		drop_events(&held, id);
		part(id);
		forget_id(id);
		next = ids;
	}
}

int rdma_destroy_id(struct rdma_cm_id *ibv)
{
	struct fake_id *id = (struct fake_id *)ibv;

	kernel_lock();
	if (ibv->qp)
		fake_misuse("rdma_destroy_id: the queue pair is left");
	if (id->unacked)
		fake_misuse("rdma_destroy_id: would wait for ever, an event is not acknowledged");
	if (id->state == ID_LISTEN)
		refuse_pending(id);
	part(id);
	drop_events(&channel_of(id)->events, id);
	if (!channel_of(id)->events)
		fake_unsignal(ibv->channel->fd);
	forget_id(id);
	kernel_unlock();
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *ibv, struct sockaddr *addr)
{
	struct fake_id *id = (struct fake_id *)ibv;
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)addr, wanted;

	if (fake_fault("rdma_bind_addr")) {
		errno = ENOMEM;
		return -1;
	}
	inet_pton(AF_INET, FAKE_ADDR, &wanted.sin_addr);
	kernel_lock();
	ibv->route.addr.src_sin = *in;
	ibv->route.addr.src_sin.sin_port = htons(next_port++);
	id->state = ID_BOUND;
	if (!fake_config.no_device && in->sin_addr.s_addr == wanted.sin_addr.s_addr)
		ibv->verbs = &channel_of(id)->context->ibv;
	kernel_unlock();
	return 0;
}

int rdma_listen(struct rdma_cm_id *ibv, int backlog)
{
	(void)backlog;
	if (fake_fault("rdma_listen")) {
		errno = EADDRINUSE;
		return -1;
	}
	kernel_lock();
	((struct fake_id *)ibv)->state = ID_LISTEN;
	kernel_unlock();
	return 0;
}

uint16_t rdma_get_src_port(struct rdma_cm_id *id)
{
	return id->route.addr.src_sin.sin_port;
}

int rdma_resolve_addr(struct rdma_cm_id *ibv, struct sockaddr *src, struct sockaddr *dst, int timeout_ms)
{
	struct fake_id *id = (struct fake_id *)ibv;

	(void)src;
	(void)timeout_ms;
	if (fake_fault("rdma_resolve_addr")) {
		errno = ENODEV;
		return -1;
	}
	kernel_lock();
	ibv->route.addr.dst_sin = *(struct sockaddr_in *)(void *)dst;
	ibv->verbs = &channel_of(id)->context->ibv;
	id->state = ID_ADDRESS;
	tell(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	kernel_unlock();
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *ibv, int timeout_ms)
{
	struct fake_id *id = (struct fake_id *)ibv;

	(void)timeout_ms;
	if (fake_fault("rdma_resolve_route")) {
		errno = EINVAL;
		return -1;
	}
	kernel_lock();
	id->state = ID_ROUTE;
	tell(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	kernel_unlock();
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (fake_config.shortage) {
		errno = fake_config.shortage;
		return -1;
	}
	if (fake_fault("rdma_create_qp")) {
		errno = ENOMEM;
		return -1;
	}
	return fake_qp_new(id, pd, attr);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	fake_qp_free((struct fake_qp *)id->qp);
}

int rdma_set_option(struct rdma_cm_id *id, int level, int option, void *value, size_t value_bytes)
{
	(void)id;
	(void)level;
	(void)option;
	(void)value;
	(void)value_bytes;
	if (fake_fault("rdma_set_option")) {
		errno = ENOSYS;
		return -1;
	}
	return 0;
}

static struct fake_id *listener_at(const struct sockaddr_in *addr)
{
	for (struct fake_id *id = ids; id; id = id->next) {
		if (id->state == ID_LISTEN && id->ibv.route.addr.src_sin.sin_port == addr->sin_port)
			return id;
	}
	return NULL;
}

/* A connection request arrives at a listener. With the lock. */
static void request(struct fake_id *from, struct fake_id *listener, const struct rdma_conn_param *param)
{
	struct fake_id *id = new_id(listener->ibv.channel, listener->ibv.context);
	struct fake_event *event;

	id->ibv.verbs = listener->ibv.verbs;
	id->listener = listener;
	id->other = from;
	from->other = id;
	event = make_event(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, param->private_data, param->private_data_len,
	                   REQUEST_DATA_BYTES);
	if (fake_config.hold_requests) {
		event->next = held;
		held = event;
	} else if (!lost(event)) {
		append_event(channel_of(id), event);
	} else {
		from->other = NULL;
		forget_id(id);
	}
}

int rdma_connect(struct rdma_cm_id *ibv, struct rdma_conn_param *param)
{
	struct fake_id *id = (struct fake_id *)ibv, *listener;

	if (fake_fault("rdma_connect")) {
		errno = EINVAL;
		return -1;
	}
	kernel_lock();
	if (id->state != ID_ROUTE)
		fake_misuse("rdma_connect: the route is not resolved");
	if (param->private_data_len > REQUEST_DATA_BYTES)
		fake_misuse("rdma_connect: too much private data");
	id->state = ID_CONNECT;
	listener = listener_at(&ibv->route.addr.dst_sin);
	if (listener)
		request(id, listener, param);
	else
		tell(id, RDMA_CM_EVENT_REJECTED, REJECTED_NO_LISTENER);
	kernel_unlock();
	return 0;
}

int fake_held_requests(void)
{
	int count = 0;

	kernel_lock();
	for (struct fake_event *event = held; event; event = event->next)
		count++;
	kernel_unlock();
	return count;
}

void fake_release_requests(void)
{
	kernel_lock();
	fake_config.hold_requests = false;
	while (held) {
		struct fake_event *event = held;

		held = event->next;
		append_event(channel_of((struct fake_id *)event->event.id), event);
	}
	kernel_unlock();
}

int rdma_accept(struct rdma_cm_id *ibv, struct rdma_conn_param *param)
{
	struct fake_id *id = (struct fake_id *)ibv;
	struct fake_event *event;

	if (fake_fault("rdma_accept")) {
		errno = EINVAL;
		return -1;
	}
	kernel_lock();
	if (id->state != ID_REQUESTED)
		fake_misuse("rdma_accept: nothing to accept");
	id->state = ID_ACCEPTED;
	if (ibv->qp)
		ibv->qp->state = IBV_QPS_RTS;
	if (id->other) { /* else the requester has gone; no answer will ever come */
		event = make_event(id->other, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, param->private_data, param->private_data_len,
		                   ANSWER_DATA_BYTES);
		if (!lost(event))
			append_event(channel_of(id->other), event);
	}
	kernel_unlock();
	return 0;
}

int rdma_reject(struct rdma_cm_id *ibv, const void *data, uint8_t data_bytes)
{
	struct fake_id *id = (struct fake_id *)ibv, *other;
	struct fake_event *event;

	if (fake_fault("rdma_reject")) {
		errno = EINVAL;
		return -1;
	}
	kernel_lock();
	other = id->other;
	id->state = ID_CLOSED;
	if (other) {
		id->other = NULL;
		other->other = NULL;
		event = make_event(other, RDMA_CM_EVENT_REJECTED, REJECTED_BY_CONSUMER, data, data_bytes, REJECT_DATA_BYTES);
		if (!lost(event))
			append_event(channel_of(other), event);
	}
	kernel_unlock();
	return 0;
}

/* Both ends get DISCONNECTED: the one that asked when the other has agreed, or has not for too long. */
int rdma_disconnect(struct rdma_cm_id *ibv)
{
	struct fake_id *id = (struct fake_id *)ibv;
	bool connected;

	if (fake_fault("rdma_disconnect")) {
		errno = EINVAL;
		return -1;
	}
	kernel_lock();
	connected = id->state == ID_CONNECTED || id->state == ID_ACCEPTED;
	if (connected) {
		id->state = ID_CLOSED;
		fake_qp_error((struct fake_qp *)ibv->qp);
		if (id->other && id->other->state == ID_CONNECTED)
			tell(id->other, RDMA_CM_EVENT_DISCONNECTED, 0);
		tell(id, RDMA_CM_EVENT_DISCONNECTED, 0);
		tell(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	}
	kernel_unlock();
	errno = EINVAL;
	return connected ? 0 : -1;
}
