// SPDX-License-Identifier: BSD-2-Clause
/* Connections: request, accept, reject, disconnect. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/cm/cm.h"
#include "soft/peer/peer.h"
#include "soft/state/core.h"

enum {
	MAX_RETRY = 7,
	PSN_MASK = 0xffffff,
};

static uint8_t depth(uint8_t asked)
{
	return asked > SOFT_MAX_RD_ATOMIC ? SOFT_MAX_RD_ATOMIC : asked;
}

static struct rdma_conn_param default_param(void)
{
	return (struct rdma_conn_param){
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = MAX_RETRY,
		.rnr_retry_count = MAX_RETRY,
		.flow_control = 1,
	};
}

static uint32_t first_psn(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint32_t)((uint64_t)now.tv_nsec * 2654435761u >> 8) & PSN_MASK;
}

static void fill_msg(struct cm_id *id, const struct rdma_conn_param *param, struct cm_msg *msg)
{
	msg->qpn = id->local_qpn = id->base.qp ? id->base.qp->qp_num : param->qp_num;
	msg->srq = id->base.qp ? id->base.qp->srq != NULL : param->srq;
	msg->psn = id->psn = first_psn();
	msg->responder_resources = depth(param->responder_resources);
	msg->initiator_depth = depth(param->initiator_depth);
	msg->retry_count = param->retry_count > MAX_RETRY ? MAX_RETRY : param->retry_count;
	msg->rnr_retry_count = param->rnr_retry_count > MAX_RETRY ? MAX_RETRY : param->rnr_retry_count;
	msg->flow_control = param->flow_control;
	msg->private_len = param->private_data_len;
	if (param->private_data_len)
		memcpy(msg->private_data, param->private_data, param->private_data_len);
}

/* ---- the active side ---- */

/* Reports that nothing listens. Under cm_lock. */
static void refused(struct cm_id *id)
{
	struct cm_event *event;

	if (cm_is_sidr(id)) {
		cm_sidr_refused(id, CM_SIDR_UNSUPPORTED, NULL);
		return;
	}
	event = cm_event_new(id, RDMA_CM_EVENT_REJECTED, CM_REJ_NO_LISTENER);
	id->state = CM_DISCONNECTED;
	if (!event)
		return;
	event->base.param.conn.private_data = event->private_data;
	event->base.param.conn.private_data_len = CM_REJ_PRIVATE;
	cm_event_queue(id, event);
}

static int try_request(struct cm_id *id)
{
	int err = cm_addr_connect(id->sock, id->base.ps, &id->base.route.addr.dst_addr);

	if (!err)
		err = cm_send(id, id->request, CM_REQ);
	/* The listener rejected it before the send; the reason can be read. */
	if (err == EPIPE || err == ECONNRESET)
		err = 0;
	if (!err)
		err = softverbs_watch(id->sock, cm_on_message, id);
	if (!err)
		id->watched = true;
	return err;
}

static bool try_again(int err)
{
	return err == ECONNREFUSED || err == EAGAIN;
}

static void on_retry(void *arg)
{
	struct cm_id *id = arg;
	uint64_t ticks;
	int err;

	if (read(id->retry_fd, &ticks, sizeof(ticks)) < 0)
		return;
	err = try_request(id);
	if (try_again(err) && ++id->retries < CM_RETRIES)
		return;
	softverbs_unwatch(id->retry_fd);
	if (!err)
		return;
	pthread_mutex_lock(&cm_lock);
	refused(id);
	pthread_mutex_unlock(&cm_lock);
}

/*
 * Repeats the request, CM_RETRIES times at most: a program that connects on a message of its peer
 * may precede the peer's rdma_listen.
 */
static int retry_later(struct cm_id *id)
{
	const struct timespec period = { .tv_nsec = CM_RETRY_MS * 1000000L };
	const struct itimerspec timer = { .it_interval = period, .it_value = period };

	id->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (id->retry_fd < 0)
		return errno;
	if (timerfd_settime(id->retry_fd, 0, &timer, NULL) != 0)
		return errno;
	return softverbs_watch(id->retry_fd, on_retry, id);
}

void cm_stop_timers(struct cm_id *id)
{
	if (id->retry_fd >= 0) {
		softverbs_unwatch(id->retry_fd);
		close(id->retry_fd);
	}
	free(id->request);
	if (id->end_fd >= 0) {
		softverbs_unwatch(id->end_fd);
		close(id->end_fd);
	}
}

static int request(struct cm_id *id, const struct rdma_conn_param *param)
{
	struct rdma_addr *addr = &id->base.route.addr;
	int err;

	id->request = calloc(1, sizeof(*id->request));
	if (!id->request)
		return ENOMEM;
	fill_msg(id, param, id->request);
	memcpy(&id->request->src, &addr->src_storage, sizeof(id->request->src));
	memcpy(&id->request->dst, &addr->dst_storage, sizeof(id->request->dst));
	id->retry_count = id->request->retry_count;
	id->rnr_retry_count = id->request->rnr_retry_count;
	id->state = CM_CONNECTING;
	err = try_request(id);
	if (try_again(err))
		err = retry_later(id);
	else if (err == ESTALE) /* another user's listener counts as none */
		err = ECONNREFUSED;
	if (err)
		id->state = CM_DISCONNECTED;
	return err;
}

SOFT_EXPORT int rdma_connect(struct rdma_cm_id *base, struct rdma_conn_param *asked)
{
	struct cm_id *id = cm_id(base);
	struct rdma_conn_param param = asked ? *asked : default_param();
	int err;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (!asked && id->connect_len) {
		param.private_data = id->connect;
		param.private_data_len = (uint8_t)id->connect_len;
	}
	if (id->state != CM_ROUTE_RESOLVED ||
	    param.private_data_len > (cm_is_sidr(id) ? CM_SIDR_REQ_PRIVATE : CM_REQ_PRIVATE))
		return cm_fail(EINVAL);
	err = request(id, &param);
	return err ? cm_fail(err) : cm_complete(id);
}

SOFT_EXPORT int rdma_establish(struct rdma_cm_id *base)
{
	struct cm_id *id = cm_id(base);
	struct cm_msg msg = { 0 };
	int err = EINVAL;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	/* With a queue pair on the identifier, the library sends RTU. */
	if (base->qp)
		return cm_fail(EINVAL);
	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_RESPONDED) {
		err = cm_send(id, &msg, CM_RTU);
		if (!err)
			id->state = CM_CONNECTED;
	}
	pthread_mutex_unlock(&cm_lock);
	return err ? cm_fail(err) : 0;
}

/* ---- the passive side ---- */

/* Lowers the depths to what the peer has offered. */
static void agree(struct cm_id *id, struct rdma_conn_param *param)
{
	if (depth(param->responder_resources) < id->responder_resources)
		id->responder_resources = depth(param->responder_resources);
	if (depth(param->initiator_depth) < id->initiator_depth)
		id->initiator_depth = depth(param->initiator_depth);
	param->responder_resources = id->responder_resources;
	param->initiator_depth = id->initiator_depth;
}

/* Rejects a request if the error is a shortage of resources. */
static void give_up(struct cm_id *id, int err)
{
	if (!soft_is_shortage(err) && !soft_is_remote_shortage(err))
		return;
	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_REQUESTED) {
		cm_send_unready(id, err);
		id->state = CM_DISCONNECTED;
	}
	pthread_mutex_unlock(&cm_lock);
}

SOFT_EXPORT int rdma_accept(struct rdma_cm_id *base, struct rdma_conn_param *asked)
{
	struct cm_id *id = cm_id(base);
	struct rdma_conn_param param = asked ? *asked : default_param();
	struct cm_msg msg = { 0 };
	int err;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (id->state != CM_REQUESTED || param.private_data_len > CM_REP_PRIVATE)
		return cm_fail(EINVAL);
	if (cm_is_sidr(id))
		return cm_sidr_accept(id, &param);
	agree(id, &param);
	if (!asked || param.rnr_retry_count > MAX_RETRY)
		param.rnr_retry_count = id->rnr_retry_count;
	pthread_mutex_lock(&cm_lock); /* the engine may be handling the peer's messages */
	fill_msg(id, &param, &msg);
	pthread_mutex_unlock(&cm_lock);
	if (base->qp) {
		err = cm_qp_ready(id);
		if (err) {
			give_up(id, err);
			return cm_fail(err);
		}
	}
	pthread_mutex_lock(&cm_lock);
	err = EINVAL;
	if (id->state == CM_REQUESTED) {
		err = cm_send(id, &msg, CM_REP);
		if (!err)
			id->state = CM_ACCEPTED;
	}
	pthread_mutex_unlock(&cm_lock);
	if (err) {
		cm_qp_error(id);
		return cm_fail(err);
	}
	return cm_complete(id);
}

SOFT_EXPORT int rdma_reject(struct rdma_cm_id *base, const void *private_data, uint8_t private_data_len)
{
	struct cm_id *id = cm_id(base);
	struct cm_msg msg = { .reason = CM_REJ_CONSUMER, .private_len = private_data_len };
	int err = EINVAL;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (private_data_len > (cm_is_sidr(id) ? CM_SIDR_REP_PRIVATE : CM_REJ_PRIVATE))
		return cm_fail(EINVAL);
	if (private_data_len)
		memcpy(msg.private_data, private_data, private_data_len);
	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_REQUESTED || id->state == CM_RESPONDED) {
		err = cm_send(id, &msg, CM_REJ);
		id->state = CM_DISCONNECTED;
	}
	pthread_mutex_unlock(&cm_lock);
	return err ? cm_fail(err) : 0;
}

/* Data has overtaken RTU: it establishes the connection too. */
SOFT_EXPORT int rdma_notify(struct rdma_cm_id *base, enum ibv_event_type event)
{
	struct cm_id *id = cm_id(base);
	int err = 0;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	if (event != IBV_EVENT_COMM_EST)
		return cm_fail(EINVAL);
	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_ACCEPTED) {
		id->state = CM_CONNECTED;
		cm_event_post(id, RDMA_CM_EVENT_ESTABLISHED, 0);
	} else if (id->state != CM_CONNECTED) {
		err = EINVAL;
	}
	pthread_mutex_unlock(&cm_lock);
	return err ? cm_fail(err) : 0;
}

/* ---- the end; under cm_lock ---- */

static void on_end(void *arg);

static void end_after(struct cm_id *id, long ms)
{
	const struct itimerspec timer = { .it_value = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 } };

	if (id->end_fd < 0) {
		id->end_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		/* Without a timer only the event is missing. */
		if (id->end_fd < 0)
			return;
		softverbs_watch(id->end_fd, on_end, id);
	}
	timerfd_settime(id->end_fd, 0, &timer, NULL);
}

/* Both sides have disconnected, or the other does not answer. */
static void enter_timewait(struct cm_id *id)
{
	if (id->timewait)
		return;
	id->timewait = true;
	end_after(id, CM_TIMEWAIT_MS);
}

void cm_ended(struct cm_id *id, int status)
{
	bool asked = id->state == CM_DISCONNECTING;

	id->state = CM_DISCONNECTED;
	id->ended = true;
	cm_event_post(id, RDMA_CM_EVENT_DISCONNECTED, status);
	if (asked)
		enter_timewait(id);
}

static void on_end(void *arg)
{
	struct cm_id *id = arg;
	uint64_t ticks;

	/* The timer has been set anew meanwhile. */
	if (read(id->end_fd, &ticks, sizeof(ticks)) < 0)
		return;
	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_DISCONNECTING)
		cm_ended(id, -ETIMEDOUT);
	else if (id->timewait)
		cm_event_post(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	pthread_mutex_unlock(&cm_lock);
}

SOFT_EXPORT int rdma_disconnect(struct rdma_cm_id *base)
{
	struct cm_id *id = cm_id(base);
	struct cm_msg msg = { 0 };
	int err = 0;

	if (softverbs_adversary_fails(__func__))
		return cm_fail(ENOMEM);
	err = cm_qp_error(id);
	if (err)
		return cm_fail(err);
	if (cm_is_sidr(id))
		return 0;
	pthread_mutex_lock(&cm_lock);
	switch (id->state) {
	case CM_ACCEPTED:
	case CM_CONNECTED:
		id->state = CM_DISCONNECTING;
		/* If the send fails, the peer is gone, and the engine reports it. */
		cm_send(id, &msg, CM_DREQ);
		end_after(id, CM_DREQ_MS);
		break;
	case CM_DISCONNECTING:
	case CM_DISCONNECTED:
		/* The peer disconnected first, and has its answer. */
		if (id->ended)
			enter_timewait(id);
		break;
	default:
		err = EINVAL;
	}
	pthread_mutex_unlock(&cm_lock);
	return err ? cm_fail(err) : cm_complete(id);
}

/* The connection manager in a child of fork. engine/start.c closes its sockets. */

static void in_child(void)
{
	cm_addr_forked();
	cm_id_forked();
	cm_msg_forked();
}

__attribute__((constructor)) static void register_handler(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

/*
 * Identifiers for datagrams (RDMA_PS_UDP): service ID resolution.
 *
 * DESIGN NOTES
 *
 * Instead of a connection there is one question and one answer, as in the service ID resolution
 * (SIDR) of the InfiniBand CM: rdma_connect asks, rdma_accept answers with a queue pair's number.
 * They travel as CM_REQ and CM_REP (or CM_REJ). Then both identifiers are CM_DISCONNECTED, and
 * neither side learns of the other's end. Their queue pairs are always ready.
 */

enum {
	HOP_LIMIT = 64,
	THE_LID = 1, /* of every process */
};

static void answered(struct cm_id *id, enum rdma_cm_event_type type, int status, const struct cm_msg *msg)
{
	struct cm_event *event = cm_event_new(id, type, status);

	id->state = CM_DISCONNECTED;
	if (!event)
		return;
	if (msg)
		cm_attach_private(event, msg, CM_SIDR_REP_PRIVATE);
	event->base.param.ud.qp_num = msg ? msg->qpn : 0;
	event->base.param.ud.qkey = type == RDMA_CM_EVENT_ESTABLISHED ? RDMA_UDP_QKEY : 0;
	cm_event_queue(id, event);
}

void cm_sidr_reply(struct cm_id *id, const struct cm_msg *msg)
{
	answered(id, RDMA_CM_EVENT_ESTABLISHED, 0, msg);
}

void cm_sidr_refused(struct cm_id *id, int status, const struct cm_msg *msg)
{
	answered(id, RDMA_CM_EVENT_UNREACHABLE, status, msg);
}

/* Returns the GID index of the identifier's address, or 0 if the port has none (127.0.0.2). */
static uint8_t index_of(struct ibv_context *verbs, const union ibv_gid *gid)
{
	union ibv_gid own;

	for (uint8_t i = 0; i < SOFT_MAX_GIDS && ibv_query_gid(verbs, SOFT_PORT, i, &own) == 0; i++)
		if (memcmp(&own, gid, sizeof(own)) == 0)
			return i;
	return 0;
}

void cm_sidr_address(struct rdma_cm_event *event)
{
	const struct rdma_addr *addr = &event->id->route.addr;

	event->param.ud.ah_attr = (struct ibv_ah_attr){
		.grh = { .dgid = addr->addr.ibaddr.dgid,
		         .sgid_index = index_of(event->id->verbs, &addr->addr.ibaddr.sgid),
		         .hop_limit = HOP_LIMIT },
		.dlid = THE_LID,
		.is_global = 1,
		.port_num = event->id->port_num,
	};
}

int cm_sidr_accept(struct cm_id *id, const struct rdma_conn_param *param)
{
	struct cm_msg msg = { .qpn = id->base.qp ? id->base.qp->qp_num : param->qp_num,
		                  .private_len = param->private_data_len };
	int err = EINVAL;

	if (param->private_data_len > CM_SIDR_REP_PRIVATE)
		return cm_fail(EINVAL);
	if (param->private_data_len)
		memcpy(msg.private_data, param->private_data, param->private_data_len);
	pthread_mutex_lock(&cm_lock);
	if (id->state == CM_REQUESTED) {
		err = cm_send(id, &msg, CM_REP);
		id->state = CM_DISCONNECTED;
	}
	pthread_mutex_unlock(&cm_lock);
	if (err)
		return cm_fail(err);
	/* The library acknowledges the event of a synchronous request. */
	if (id->sync && id->base.event) {
		rdma_ack_cm_event(id->base.event);
		id->base.event = NULL;
	}
	return 0;
}
