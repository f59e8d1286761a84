// SPDX-License-Identifier: BSD-2-Clause
/* Messages between connection managers, and their effect on identifiers. */
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

#include "soft/base/base.h"
#include "soft/cm/cm.h"
#include "soft/engine/engine.h"
#include "soft/meet/meet.h"
#include "soft/peer/peer.h"
#include "soft/state/core.h"

#define CM_MAGIC 0x73766363006d0001ULL

/* An accepted connection without a request. */
struct pending {
	struct soft_list list;
	struct cm_id *listener; /* NULL once destroyed */
	int sock;
};

int cm_send(struct cm_id *id, struct cm_msg *msg, enum cm_type type)
{
	msg->magic = CM_MAGIC;
	msg->type = type;
	if (softverbs_lost(id->local_qpn))
		return 0;
	return send(id->sock, msg, sizeof(*msg), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*msg) ? 0 : errno;
}

void cm_send_unready(struct cm_id *id, int err)
{
	struct cm_msg msg = { .reason = CM_REJ_CONSUMER };

	if (soft_is_remote_shortage(err)) {
		msg.reason = CM_REJ_YOUR_RESOURCES;
		msg.error = err == EREMOTEIO ? EMFILE : ENOMEM;
	} else if (soft_is_shortage(err)) {
		msg.reason = CM_REJ_NO_RESOURCES;
	}
	cm_send(id, &msg, CM_REJ);
}

/* Returns 1 for a message, 0 for none, -1 if the peer is gone or the message invalid. */
static int receive(int sock, struct cm_msg *msg)
{
	ssize_t n = recv(sock, msg, sizeof(*msg), MSG_DONTWAIT);

	/* The peer closed with unread data: the error comes first, then its messages. */
	if (n < 0 && errno == ECONNRESET)
		n = recv(sock, msg, sizeof(*msg), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(*msg) || msg->magic != CM_MAGIC || msg->private_len > sizeof(msg->private_data))
		return -1;
	return 1;
}

/* ---- requests ---- */

void cm_attach_private(struct cm_event *event, const struct cm_msg *msg, uint8_t length)
{
	size_t sent = msg->private_len < length ? msg->private_len : length;

	memcpy(event->private_data, msg->private_data, sent);
	event->base.param.conn.private_data = event->private_data;
	event->base.param.conn.private_data_len = length;
}

static void attach_param(struct cm_event *event, const struct cm_msg *msg)
{
	struct rdma_conn_param *conn = &event->base.param.conn;

	/* The peer's initiator depth is what this side needs resources for. */
	conn->responder_resources = msg->initiator_depth;
	conn->initiator_depth = msg->responder_resources;
	conn->retry_count = msg->retry_count;
	conn->rnr_retry_count = msg->rnr_retry_count;
	conn->flow_control = msg->flow_control;
	conn->srq = msg->srq;
	conn->qp_num = msg->qpn;
}

static void remember_peer(struct cm_id *id, const struct cm_msg *msg)
{
	id->remote_qpn = msg->qpn;
	id->remote_psn = msg->psn;
	id->responder_resources = msg->initiator_depth;
	id->initiator_depth = msg->responder_resources;
}

static bool wanted(const struct cm_id *listener, const struct cm_msg *msg)
{
	bool v4 = msg->dst.sin6_family == AF_INET;

	if (!cm_addr_len((const struct sockaddr *)(const void *)&msg->src) ||
	    !cm_addr_len((const struct sockaddr *)(const void *)&msg->dst))
		return false;
	if (v4 && listener->af_only && listener->base.route.addr.src_addr.sa_family == AF_INET6)
		return false;
	return listener->requests < listener->backlog;
}

/* Returns a request's identifier, or NULL. Under cm_lock. */
static struct cm_id *request_new(struct cm_id *listener, const struct cm_msg *msg, int sock)
{
	struct cm_id *id =
		cm_id_new(listener->base.channel, listener->base.context, listener->base.ps, listener->base.qp_type);
	struct rdma_addr *addr;

	if (!id)
		return NULL;
	addr = &id->base.route.addr;
	memcpy(&addr->src_storage, &msg->dst, sizeof(msg->dst));
	memcpy(&addr->dst_storage, &msg->src, sizeof(msg->src));
	if (cm_id_bind_device(id) != 0) {
		free(id);
		return NULL;
	}
	cm_addr_gid(&addr->dst_addr, &addr->addr.ibaddr.dgid);
	id->sock = sock;
	id->state = CM_REQUESTED;
	id->listener = listener;
	id->ack_timeout = listener->ack_timeout;
	id->retry_count = msg->retry_count;
	id->rnr_retry_count = msg->rnr_retry_count;
	remember_peer(id, msg);
	return id;
}

/*
 * Returns 0, or the reason to reject a request; the caller then closes the socket. Under cm_lock.
 */
static uint32_t take_request(struct cm_id *listener, const struct cm_msg *msg, int sock)
{
	struct cm_id *id;
	struct cm_event *event;

	if (msg->type != CM_REQ || !wanted(listener, msg))
		return CM_REJ_CONSUMER;
	id = request_new(listener, msg, sock);
	if (!id)
		return CM_REJ_NO_RESOURCES;
	event = cm_event_new(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	if (!event) {
		free(id);
		return CM_REJ_NO_RESOURCES;
	}
	softverbs_watch_on(sock, cm_on_message, id);
	id->watched = true;
	event->base.listen_id = &listener->base;
	if (!cm_is_sidr(listener))
		attach_param(event, msg);
	cm_attach_private(event, msg, cm_is_sidr(listener) ? CM_SIDR_REQ_PRIVATE : CM_REQ_PRIVATE);
	listener->requests++;
	cm_event_queue(listener, event);
	return 0;
}

static void refuse(int sock, uint32_t reason)
{
	struct cm_id speaker = { .sock = sock };
	struct cm_msg msg = { .reason = reason };

	cm_send(&speaker, &msg, CM_REJ);
}

static void refuse_short(int sock, int err)
{
	(void)err;
	refuse(sock, CM_REJ_NO_RESOURCES);
}

static struct soft_list pendings = { &pendings, &pendings };

static void on_request(void *arg)
{
	struct pending *pending = arg;
	struct cm_msg msg;
	int got = receive(pending->sock, &msg);
	uint32_t reason = CM_REJ_CONSUMER;

	if (got == 0)
		return;
	pthread_mutex_lock(&cm_lock);
	soft_list_del(&pending->list);
	if (got > 0 && pending->listener)
		reason = take_request(pending->listener, &msg, pending->sock);
	pthread_mutex_unlock(&cm_lock);
	if (reason) {
		softverbs_unwatch(pending->sock);
		refuse(pending->sock, reason);
		close(pending->sock);
	}
	free(pending);
}

void cm_on_listen(void *arg)
{
	struct cm_id *listener = arg;
	int sock = softverbs_accept(listener->sock, refuse_short);
	struct pending *pending;
	pid_t pid;

	if (sock < 0)
		return;
	pending = calloc(1, sizeof(*pending));
	if (!pending || !softverbs_same_user(sock, &pid))
		goto err_close;
	pending->sock = sock;
	pending->listener = listener;
	pthread_mutex_lock(&cm_lock);
	soft_list_add_tail(&pendings, &pending->list);
	pthread_mutex_unlock(&cm_lock);
	if (softverbs_watch(sock, on_request, pending) == 0)
		return;
	pthread_mutex_lock(&cm_lock);
	soft_list_del(&pending->list);
	pthread_mutex_unlock(&cm_lock);
	refuse(sock, CM_REJ_NO_RESOURCES);
err_close:
	free(pending);
	close(sock);
}

void cm_orphan(struct cm_id *listener)
{
	for (struct soft_list *i = pendings.next; i != &pendings; i = i->next) {
		struct pending *pending = soft_container(i, struct pending, list);

		if (pending->listener == listener)
			pending->listener = NULL;
	}
}

/* ---- connections; under cm_lock ---- */

static void on_reply(struct cm_id *id, const struct cm_msg *msg)
{
	struct cm_event *event;

	if (id->state != CM_CONNECTING)
		return;
	if (cm_is_sidr(id)) {
		cm_sidr_reply(id, msg);
		return;
	}
	remember_peer(id, msg);
	id->state = CM_RESPONDED;
	event = cm_event_new(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	if (!event)
		return;
	attach_param(event, msg);
	cm_attach_private(event, msg, CM_REP_PRIVATE);
	cm_event_queue(id, event);
}

static void on_reject(struct cm_id *id, const struct cm_msg *msg)
{
	struct cm_event *event;
	bool reports = id->state == CM_CONNECTING || id->state == CM_ACCEPTED;

	if (!reports && id->state != CM_REQUESTED)
		return;
	id->state = CM_DISCONNECTED;
	/* If a request is withdrawn before it was accepted, rdma_accept fails. */
	if (!reports)
		return;
	if (cm_is_sidr(id)) {
		cm_sidr_refused(id, CM_SIDR_REJECT, msg);
		return;
	}
	/* This side lacked resources; the peer did not reject by choice. */
	if (msg->reason == CM_REJ_YOUR_RESOURCES) {
		cm_event_post(id, RDMA_CM_EVENT_CONNECT_ERROR, -(int)msg->error);
		return;
	}
	event = cm_event_new(id, RDMA_CM_EVENT_REJECTED, (int)msg->reason);
	if (!event)
		return;
	cm_attach_private(event, msg, CM_REJ_PRIVATE);
	cm_event_queue(id, event);
}

static void on_ready_to_use(struct cm_id *id)
{
	if (id->state != CM_ACCEPTED)
		return;
	id->state = CM_CONNECTED;
	cm_event_post(id, RDMA_CM_EVENT_ESTABLISHED, 0);
}

static void on_disconnect(struct cm_id *id)
{
	if (id->state == CM_DISCONNECTED)
		return;
	/* RTU cannot be lost: a peer that disconnects was connected. */
	cm_ended(id, 0);
}

static void on_gone(struct cm_id *id)
{
	switch (id->state) {
	case CM_CONNECTING:
	case CM_ACCEPTED:
		id->state = CM_DISCONNECTED;
		cm_event_post(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		break;
	case CM_RESPONDED:
	case CM_CONNECTED:
	case CM_DISCONNECTING:
		cm_ended(id, 0);
		break;
	default:
		/* Already reported, or never more than a request. */
		id->state = CM_DISCONNECTED;
		break;
	}
}

static void handle(struct cm_id *id, const struct cm_msg *msg)
{
	struct cm_msg answer = { 0 };

	switch ((enum cm_type)msg->type) {
	case CM_REP:
		on_reply(id, msg);
		break;
	case CM_REJ:
		on_reject(id, msg);
		break;
	case CM_RTU:
		on_ready_to_use(id);
		break;
	case CM_DREQ:
		cm_send(id, &answer, CM_DREP);
		on_disconnect(id);
		break;
	case CM_DREP:
		on_disconnect(id);
		break;
	case CM_REQ:
		/* on_request has read the connection's only one */
		break;
	}
}

void cm_on_message(void *arg)
{
	struct cm_id *id = arg;
	struct cm_msg msg = { 0 };
	int got = receive(id->sock, &msg);

	if (got == 0)
		return;
	if (got < 0)
		softverbs_unwatch(id->sock);
	pthread_mutex_lock(&cm_lock);
	if (softverbs_lost(id->local_qpn))
		; /* nothing arrives any more */
	else if (got < 0)
		on_gone(id);
	else
		handle(id, &msg);
	pthread_mutex_unlock(&cm_lock);
}

void cm_msg_forked(void)
{
	soft_list_init(&pendings);
}
