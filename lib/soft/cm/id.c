// SPDX-License-Identifier: BSD-2-Clause
/* Identifiers: create, bind, resolve, listen, destroy. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/cm/cm.h"
#include "soft/peer/peer.h"
#include "soft/state/core.h"

pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cm_acked = PTHREAD_COND_INITIALIZER;

/* ---- the device ---- */

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context *device;
static struct ibv_pd *domain;

/* Opens device and domain, or neither. Under device_lock. */
static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	int err;

	ibv_free_device_list(list);
	if (!context)
		return;
	domain = ibv_alloc_pd(context);
	if (domain) {
		device = context;
		return;
	}
	err = errno;
	ibv_close_device(context);
	errno = err;
}

struct ibv_context *cm_verbs(void)
{
	pthread_mutex_lock(&device_lock);
	if (!device)
		open_device();
	pthread_mutex_unlock(&device_lock);
	return device;
}

void cm_id_forked(void)
{
	pthread_mutex_init(&device_lock, NULL);
	pthread_mutex_init(&cm_lock, NULL);
	pthread_cond_init(&cm_acked, NULL);
	device = NULL;
	domain = NULL;
}

SOFT_EXPORT struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = calloc(2, sizeof(*list));

	if (!list)
		return NULL;
	list[0] = cm_verbs();
	if (num_devices)
		*num_devices = list[0] ? 1 : 0;
	return list;
}

SOFT_EXPORT void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

/* ---- life ---- */

struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type type)
{
	struct cm_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->base.channel = channel;
	id->base.context = context;
	id->base.ps = ps;
	id->base.qp_type = type;
	id->sock = id->retry_fd = id->end_fd = -1;
	id->ack_timeout = CM_DEFAULT_TIMEOUT;
	if (!channel) {
		id->base.channel = rdma_create_event_channel();
		if (!id->base.channel) {
			free(id);
			return NULL;
		}
		id->own_channel = (struct cm_channel *)id->base.channel;
		id->sync = true;
	}
	return id;
}

SOFT_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                               enum rdma_port_space ps)
{
	struct cm_id *priv;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (ps == RDMA_PS_IPOIB)
		return cm_fail(EOPNOTSUPP);
	if (ps != RDMA_PS_TCP && ps != RDMA_PS_IB && ps != RDMA_PS_UDP)
		return cm_fail(EINVAL);
	/* The engine must run before the first event. */
	if (!cm_verbs())
		return -1;
	priv = cm_id_new(channel, context, ps, ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC);
	if (!priv)
		return -1;
	*id = &priv->base;
	return 0;
}

static void say_goodbye(struct cm_id *id)
{
	struct cm_msg msg = { .reason = CM_REJ_CONSUMER };

	switch (id->state) {
	case CM_REQUESTED:
	case CM_RESPONDED:
		cm_send(id, &msg, CM_REJ);
		break;
	case CM_ACCEPTED:
	case CM_CONNECTED:
		cm_send(id, &msg, CM_DREQ);
		break;
	default:
		break;
	}
}

SOFT_EXPORT int rdma_destroy_id(struct rdma_cm_id *base)
{
	struct cm_id *id = cm_id(base);

	cm_stop_timers(id);
	if (id->watched)
		softverbs_unwatch(id->sock);
	pthread_mutex_lock(&cm_lock);
	say_goodbye(id);
	cm_orphan(id);
	pthread_mutex_unlock(&cm_lock);
	if (base->event)
		rdma_ack_cm_event(base->event);
	cm_event_forget(id);
	if (id->sock >= 0)
		close(id->sock);
	if (id->own_channel)
		rdma_destroy_event_channel(&id->own_channel->base);
	free(base->route.path_rec);
	free(id->qp_init_attr);
	free(id->connect);
	free(id);
	return 0;
}

/* ---- addresses ---- */

int cm_id_bind_device(struct cm_id *id)
{
	struct rdma_addr *addr = &id->base.route.addr;

	/* Only once: rdma_create_qp may have replaced the domain. */
	if (!id->base.verbs) {
		id->base.verbs = cm_verbs();
		if (!id->base.verbs)
			return ENODEV;
		id->base.pd = domain;
	}
	id->base.port_num = SOFT_PORT;
	cm_addr_gid(&addr->src_addr, &addr->addr.ibaddr.sgid);
	addr->addr.ibaddr.pkey = 0xffff;
	return 0;
}

static int bind_source(struct cm_id *id, const struct sockaddr *addr)
{
	struct sockaddr *src = &id->base.route.addr.src_addr;

	if (id->sock >= 0)
		return EINVAL;
	if (!cm_addr_len(addr))
		return EAFNOSUPPORT;
	if (!cm_addr_any(addr) && !cm_addr_local(addr))
		return EADDRNOTAVAIL;
	memcpy(src, addr, cm_addr_len(addr));
	id->sock = cm_addr_reserve(id->base.ps, src);
	if (id->sock < 0)
		return errno;
	return cm_addr_any(addr) ? 0 : cm_id_bind_device(id);
}

SOFT_EXPORT int rdma_bind_addr(struct rdma_cm_id *base, struct sockaddr *addr)
{
	int err = softverbs_adversary_fails(__func__) ? ENOMEM : bind_source(cm_id(base), addr);

	return err ? cm_fail(err) : 0;
}

SOFT_EXPORT int rdma_listen(struct rdma_cm_id *base, int backlog)
{
	struct cm_id *id = cm_id(base);
	struct sockaddr_in any = { .sin_family = AF_INET };
	int err;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (id->state != CM_IDLE)
		return cm_fail(EINVAL);
	if (id->sock < 0) {
		err = bind_source(id, (struct sockaddr *)&any);
		if (err)
			return cm_fail(err);
	}
	id->backlog = backlog <= 0 || backlog > CM_MAX_BACKLOG ? CM_MAX_BACKLOG : backlog;
	if (listen(id->sock, SOMAXCONN) != 0)
		return -1;
	id->state = CM_LISTENING;
	err = softverbs_watch(id->sock, cm_on_listen, id);
	if (err) {
		id->state = CM_IDLE;
		return cm_fail(err);
	}
	id->watched = true;
	return 0;
}

static void post_locked(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	pthread_mutex_lock(&cm_lock);
	cm_event_post(id, type, status);
	pthread_mutex_unlock(&cm_lock);
}

/* Chooses the source as the host does: for one of its own addresses, that address. */
static int choose_source(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *dst)
{
	struct rdma_addr *addr = &id->base.route.addr;
	struct sockaddr_storage chosen = { 0 };
	const struct sockaddr *from = src && cm_addr_len(src) && !cm_addr_any(src) ? src : dst;

	if (id->sock >= 0) {
		/* Bound to the wildcard: keeps the port, sets the address. */
		if (cm_addr_any(&addr->src_addr)) {
			uint16_t port = cm_addr_port(&addr->src_addr);

			memcpy(&addr->src_storage, from, cm_addr_len(from));
			cm_addr_set_port(&addr->src_addr, port);
		}
		return cm_id_bind_device(id);
	}
	memcpy(&chosen, from, cm_addr_len(from));
	if (from == dst)
		cm_addr_set_port((struct sockaddr *)&chosen, src && cm_addr_len(src) ? cm_addr_port(src) : 0);
	return bind_source(id, (struct sockaddr *)&chosen);
}

SOFT_EXPORT int rdma_resolve_addr(struct rdma_cm_id *base, struct sockaddr *src, struct sockaddr *dst, int timeout_ms)
{
	struct cm_id *id = cm_id(base);
	struct rdma_addr *addr = &base->route.addr;
	int err;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	(void)timeout_ms;
	if (id->state != CM_IDLE)
		return cm_fail(EINVAL);
	if (!dst || !cm_addr_len(dst) || (src && cm_addr_len(src) && src->sa_family != dst->sa_family))
		return cm_fail(EINVAL);
	memcpy(&addr->dst_storage, dst, cm_addr_len(dst));
	/* A wildcard destination is this host. */
	errno = 0;
	if (!cm_addr_any(dst) && !cm_addr_local(dst)) {
		if (soft_is_shortage(errno)) /* the addresses cannot be listed */
			return cm_fail(errno);
		post_locked(id, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
		return cm_complete(id);
	}
	err = choose_source(id, src, dst);
	if (err)
		return cm_fail(err);
	cm_addr_gid(dst, &addr->addr.ibaddr.dgid);
	id->state = CM_ADDR_RESOLVED;
	post_locked(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	return cm_complete(id);
}

static int make_path(struct rdma_cm_id *id)
{
	struct ibv_sa_path_rec *path = calloc(1, sizeof(*path));

	if (!path)
		return ENOMEM;
	path->dgid = id->route.addr.addr.ibaddr.dgid;
	path->sgid = id->route.addr.addr.ibaddr.sgid;
	path->dlid = path->slid = htons(1);
	path->pkey = 0xffff;
	path->mtu_selector = path->rate_selector = path->packet_life_time_selector = 2; /* "exactly" */
	path->mtu = IBV_MTU_4096;
	path->rate = IBV_RATE_100_GBPS;
	path->reversible = path->numb_path = 1;
	free(id->route.path_rec);
	id->route.path_rec = path;
	id->route.num_paths = 1;
	return 0;
}

SOFT_EXPORT int rdma_resolve_route(struct rdma_cm_id *base, int timeout_ms)
{
	struct cm_id *id = cm_id(base);
	int err;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	(void)timeout_ms;
	if (id->state != CM_ADDR_RESOLVED)
		return cm_fail(EINVAL);
	err = make_path(base);
	if (err)
		return cm_fail(err);
	id->state = CM_ROUTE_RESOLVED;
	post_locked(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	return cm_complete(id);
}

SOFT_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(cm_addr_port(&id->route.addr.src_addr));
}

SOFT_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return htons(cm_addr_port(&id->route.addr.dst_addr));
}

/* ---- options ---- */

static int id_option(struct cm_id *id, int name, const void *value, size_t length)
{
	bool is_int = name == RDMA_OPTION_ID_REUSEADDR || name == RDMA_OPTION_ID_AFONLY;
	int number = 0;

	if (length != (is_int ? sizeof(int) : sizeof(uint8_t)))
		return EINVAL;
	memcpy(&number, value, length);
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		id->tos = (uint8_t)number;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		id->reuse_addr = number != 0;
		return 0;
	case RDMA_OPTION_ID_AFONLY:
		id->af_only = number != 0;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		/* Five bits in the packet; 0 means no time limit. */
		if (number > 31)
			return EINVAL;
		id->ack_timeout = (uint8_t)number;
		return 0;
	default:
		return ENOSYS;
	}
}

SOFT_EXPORT int rdma_set_option(struct rdma_cm_id *base, int level, int optname, void *optval, size_t optlen)
{
	int err = ENOSYS;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (level == RDMA_OPTION_ID)
		err = id_option(cm_id(base), optname, optval, optlen);
	else if (level == RDMA_OPTION_IB && optname == RDMA_OPTION_IB_PATH)
		err = make_path(base);
	return err ? cm_fail(err) : 0;
}

/* Endpoints: synchronous identifiers, made from results of rdma_getaddrinfo. */

enum {
	RESOLVE_MS = 2000,
};

static int keep_attr(struct cm_id *id, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	if (pd)
		id->base.pd = pd;
	if (!attr)
		return 0;
	id->qp_init_attr = malloc(sizeof(*attr));
	if (!id->qp_init_attr)
		return ENOMEM;
	*id->qp_init_attr = *attr;
	return 0;
}

static int keep_connect_data(struct cm_id *id, const struct rdma_addrinfo *res)
{
	if (!res->ai_connect_len)
		return 0;
	id->connect = malloc(res->ai_connect_len);
	if (!id->connect)
		return ENOMEM;
	memcpy(id->connect, res->ai_connect, res->ai_connect_len);
	id->connect_len = res->ai_connect_len;
	return 0;
}

static int prepare_passive(struct cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
                           struct ibv_qp_init_attr *attr)
{
	if (rdma_bind_addr(&id->base, res->ai_src_addr) != 0)
		return errno;
	return keep_attr(id, pd, attr);
}

static int prepare_active(struct cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (rdma_resolve_addr(&id->base, res->ai_src_addr, res->ai_dst_addr, RESOLVE_MS) != 0 ||
	    rdma_resolve_route(&id->base, RESOLVE_MS) != 0)
		return errno;
	if (attr && rdma_create_qp(&id->base, pd, attr) != 0)
		return errno;
	return keep_connect_data(id, res);
}

SOFT_EXPORT int rdma_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *res, struct ibv_pd *pd,
                               struct ibv_qp_init_attr *attr)
{
	struct rdma_cm_id *base;
	int err;

	if (rdma_create_id(NULL, &base, NULL, (enum rdma_port_space)res->ai_port_space) != 0)
		return -1;
	if (attr)
		attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	if (res->ai_flags & RAI_PASSIVE)
		err = prepare_passive(cm_id(base), res, pd, attr);
	else
		err = prepare_active(cm_id(base), res, pd, attr);
	if (err) {
		rdma_destroy_ep(base);
		return cm_fail(err);
	}
	*out = base;
	return 0;
}

SOFT_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

SOFT_EXPORT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **out)
{
	struct cm_id *listener = cm_id(listen);
	struct rdma_cm_event *event;
	int err = 0;

	if (!listener->sync || listener->state != CM_LISTENING)
		return cm_fail(EINVAL);
	if (listen->event) {
		rdma_ack_cm_event(listen->event);
		listen->event = NULL;
	}
	if (rdma_get_cm_event(listen->channel, &event) != 0)
		return -1;
	if (event->status)
		err = event->status < 0 ? -event->status : event->status;
	else if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		err = EINVAL;
	if (!err && listener->qp_init_attr) {
		struct ibv_qp_init_attr attr = *listener->qp_init_attr;

		if (rdma_create_qp(event->id, listen->pd, &attr) != 0)
			err = errno;
	}
	if (err) {
		/* The caller may read the event; the next call acknowledges it. */
		listen->event = event;
		return cm_fail(err);
	}
	*out = event->id;
	event->id->event = event;
	return 0;
}
