// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conformance of the connection manager where nothing is connected: port space UDP. Both sides live
 * in one process.
 */
#include "cm.h"
#include "lab.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NO_EVENT_MS = 50, /* of one that does not */
	GRH = 40,
	REQ_PRIVATE = 180, /* bytes */
};

struct two {
	struct rdma_event_channel *active, *passive;
	struct rdma_cm_id *listener, *client, *server;
	struct sockaddr_in addr;
};

static bool is_quiet(const struct rdma_event_channel *channel)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };

	return poll(&ready, 1, NO_EVENT_MS) == 0;
}

static enum lab_verdict open_two(struct two *t)
{
	if (!find_addr(&t->addr, RDMA_PS_UDP))
		return LAB_UNSUPPORTED;
	t->active = rdma_create_event_channel();
	t->passive = rdma_create_event_channel();
	CHECK(t->active && t->passive);
	CHECK(rdma_create_id(t->passive, &t->listener, NULL, RDMA_PS_UDP) == 0);
	CHECK(t->listener->qp_type == IBV_QPT_UD);
	CHECK(rdma_bind_addr(t->listener, (struct sockaddr *)&t->addr) == 0 && rdma_listen(t->listener, 8) == 0);
	t->addr.sin_port = rdma_get_src_port(t->listener);
	return LAB_PASSED;
}

/* It is ready to send and to receive at once. */
static enum lab_verdict add_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 }, .qp_type = IBV_QPT_UD
	};

	CHECK(rdma_create_qp(id, NULL, &init) == 0);
	CHECK(lab_state(id->qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

static enum lab_verdict route_client(struct two *t)
{
	CHECK(rdma_create_id(t->active, &t->client, t, RDMA_PS_UDP) == 0);
	CHECK(rdma_resolve_addr(t->client, NULL, (struct sockaddr *)&t->addr, EVENT_MS) == 0);
	CHECK(type_of_next(t->active) == RDMA_CM_EVENT_ADDR_RESOLVED && t->client->verbs);
	CHECK(rdma_resolve_route(t->client, EVENT_MS) == 0);
	CHECK(type_of_next(t->active) == RDMA_CM_EVENT_ROUTE_RESOLVED);
	return add_qp(t->client);
}

static enum lab_verdict request(struct two *t)
{
	struct rdma_conn_param param = { .private_data = "question", .private_data_len = 9 };
	struct rdma_cm_event *event;
	enum lab_verdict verdict = open_two(t);

	if (verdict == LAB_PASSED)
		verdict = route_client(t);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_connect(t->client, &param) == 0);
	event = get(t->passive);
	CHECK(event && event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->listen_id == t->listener);
	CHECK(event->param.ud.private_data_len >= 9 && memcmp(event->param.ud.private_data, "question", 9) == 0);
	t->server = event->id;
	CHECK(t->server->qp_type == IBV_QPT_UD && t->server->verbs);
	rdma_ack_cm_event(event);
	return LAB_PASSED;
}

/* *ud is how the client reaches the server. */
static enum lab_verdict connect_two(struct two *t, struct rdma_ud_param *ud)
{
	struct rdma_conn_param param = { .private_data = "answer", .private_data_len = 7 };
	enum lab_verdict verdict = request(t);
	struct rdma_cm_event *event;

	if (verdict == LAB_PASSED)
		verdict = add_qp(t->server);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_accept(t->server, &param) == 0);
	event = get(t->active);
	CHECK(event && event->event == RDMA_CM_EVENT_ESTABLISHED && event->status == 0 && event->id == t->client);
	CHECK(event->param.ud.private_data_len >= 7 && memcmp(event->param.ud.private_data, "answer", 7) == 0);
	*ud = event->param.ud;
	rdma_ack_cm_event(event);
	return LAB_PASSED;
}

/* ---- cases ---- */

static enum lab_verdict cm_ud__asked_and_told(void)
{
	static char from[64] = "by rdma_cm", to[GRH + 64];
	struct ibv_mr *from_mr, *to_mr;
	struct rdma_ud_param ud;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct two t;
	enum lab_verdict verdict = connect_two(&t, &ud);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(ud.qp_num == t.server->qp->qp_num && ud.qkey == RDMA_UDP_QKEY);
	from_mr = rdma_reg_msgs(t.client, from, sizeof(from));
	to_mr = rdma_reg_msgs(t.server, to, sizeof(to));
	ah = ibv_create_ah(t.client->pd, &ud.ah_attr);
	CHECK(from_mr && to_mr && ah);
	CHECK(rdma_post_recv(t.server, NULL, to, sizeof(to), to_mr) == 0);
	CHECK(rdma_post_ud_send(t.client, NULL, from, sizeof(from), from_mr, IBV_SEND_SIGNALED, ah, ud.qp_num) == 0);
	CHECK(rdma_get_send_comp(t.client, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(rdma_get_recv_comp(t.server, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(wc.src_qp == t.client->qp->qp_num && strcmp(to + GRH, "by rdma_cm") == 0);
	return LAB_PASSED;
}

/*
 * The side that has sent hears nothing more, neither that it has arrived nor that the other one
 * goes.
 */
static enum lab_verdict cm_ud__nothing_ends(void)
{
	struct rdma_ud_param ud;
	struct two t;
	enum lab_verdict verdict = connect_two(&t, &ud);

	if (verdict != LAB_PASSED)
		return verdict;
	rdma_destroy_qp(t.client);
	CHECK(rdma_destroy_id(t.client) == 0 && is_quiet(t.passive));
	CHECK(lab_state(t.server->qp) == IBV_QPS_RTS);
	rdma_destroy_qp(t.server);
	CHECK(rdma_destroy_id(t.server) == 0 && rdma_destroy_id(t.listener) == 0);
	return LAB_PASSED;
}

static enum lab_verdict cm_ud__reject_carries_data(void)
{
	struct two t;
	enum lab_verdict verdict = request(&t);
	struct rdma_cm_event *event;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_reject(t.server, "no", 3) == 0);
	event = get(t.active);
	CHECK(event && event->event == RDMA_CM_EVENT_UNREACHABLE && event->status > 0);
	CHECK(event->param.ud.private_data_len >= 3 && memcmp(event->param.ud.private_data, "no", 3) == 0);
	rdma_ack_cm_event(event);
	CHECK(lab_state(t.client->qp) == IBV_QPS_RTS);
	return LAB_PASSED;
}

static enum lab_verdict cm_ud__nobody_listens(void)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_event *event;
	struct two t;
	enum lab_verdict verdict = open_two(&t);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_destroy_id(t.listener) == 0);
	verdict = route_client(&t);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_connect(t.client, &param) == 0);
	event = get(t.active);
	CHECK(event && event->event == RDMA_CM_EVENT_UNREACHABLE && event->status > 0);
	rdma_ack_cm_event(event);
	return LAB_PASSED;
}

static enum lab_verdict cm_ud__private_data_is_bounded(void)
{
	static const char data[255];
	struct rdma_conn_param param = { .private_data = data, .private_data_len = REQ_PRIVATE + 1 };
	struct two t;
	enum lab_verdict verdict = open_two(&t);

	if (verdict == LAB_PASSED)
		verdict = route_client(&t);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_connect(t.client, &param) == -1 && errno == EINVAL);
	param.private_data_len = REQ_PRIVATE;
	CHECK(rdma_connect(t.client, &param) == 0);
	CHECK(type_of_next(t.passive) == RDMA_CM_EVENT_CONNECT_REQUEST);
	return LAB_PASSED;
}

static enum lab_verdict cm_ud__port_spaces_are_apart(void)
{
	struct rdma_cm_id *tcp, *udp;
	struct two t;
	enum lab_verdict verdict = open_two(&t);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_create_id(t.passive, &tcp, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_create_id(t.passive, &udp, NULL, RDMA_PS_UDP) == 0);
	CHECK(rdma_bind_addr(tcp, (struct sockaddr *)&t.addr) == 0);
	CHECK(rdma_bind_addr(udp, (struct sockaddr *)&t.addr) == -1 && errno == EADDRINUSE);
	return LAB_PASSED;
}

/* ---- synchronously ---- */

static void *accept_one(void *listener)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *id;

	if (rdma_get_request(listener, &id) != 0 || add_qp(id) != LAB_PASSED || rdma_accept(id, &param) != 0)
		return NULL;
	return id;
}

static enum lab_verdict cm_ud__synchronously(void)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *listener, *client, *server;
	struct sockaddr_in addr;
	pthread_t thread;
	void *accepted;

	if (!find_addr(&addr, RDMA_PS_UDP))
		return LAB_UNSUPPORTED;
	CHECK(rdma_create_id(NULL, &listener, NULL, RDMA_PS_UDP) == 0);
	CHECK(rdma_bind_addr(listener, (struct sockaddr *)&addr) == 0 && rdma_listen(listener, 1) == 0);
	addr.sin_port = rdma_get_src_port(listener);
	CHECK(pthread_create(&thread, NULL, accept_one, listener) == 0);
	CHECK(rdma_create_id(NULL, &client, NULL, RDMA_PS_UDP) == 0);
	CHECK(rdma_resolve_addr(client, NULL, (struct sockaddr *)&addr, EVENT_MS) == 0);
	CHECK(rdma_resolve_route(client, EVENT_MS) == 0 && add_qp(client) == LAB_PASSED);
	CHECK(rdma_connect(client, &param) == 0 && client->event);
	CHECK(pthread_join(thread, &accepted) == 0 && accepted);
	server = accepted;
	CHECK(client->event->param.ud.qp_num == server->qp->qp_num);
	rdma_destroy_ep(client);
	rdma_destroy_ep(server);
	rdma_destroy_ep(listener);
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "cm ud: asked and told", cm_ud__asked_and_told, "rdma_cm(7), rdma_get_cm_event(3)" },
	{ "cm ud: nothing ends", cm_ud__nothing_ends, "Linux, drivers/infiniband/core/cma.c: cma_send_sidr_rep" },
	{ "cm ud: reject carries data", cm_ud__reject_carries_data,
	  "Linux, drivers/infiniband/core/cma.c: cma_sidr_rep_handler" },
	{ "cm ud: nobody listens", cm_ud__nobody_listens, "Linux, drivers/infiniband/core/cma.c: cma_sidr_rep_handler" },
	{ "cm ud: private data is bounded", cm_ud__private_data_is_bounded, "rdma_connect(3)" },
	{ "cm ud: port spaces are apart", cm_ud__port_spaces_are_apart, "rdma_create_id(3)" },
	{ "cm ud: synchronously", cm_ud__synchronously, "rdma_create_id(3), rdma_get_request(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
