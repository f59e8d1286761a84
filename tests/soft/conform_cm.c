// SPDX-License-Identifier: BSD-2-Clause
/* Conformance of the connection manager: events, private data, refusals. Both sides live in one process. */
#include "cm.h"
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct two {
	struct rdma_event_channel *active, *passive;
	struct rdma_cm_id *listener, *client, *server;
	struct sockaddr_in addr;
};

enum {
	CUT_MS = 701,           /* of the adversary's seed below */
	REASON_NO_LISTENER = 8, /* "invalid service ID" */
	REASON_CONSUMER = 28,
};

static enum lab_verdict open_two(struct two *t, int backlog)
{
	if (!find_addr(&t->addr, RDMA_PS_TCP))
		return LAB_UNSUPPORTED;
	t->active = rdma_create_event_channel();
	t->passive = rdma_create_event_channel();
	CHECK(t->active && t->passive);
	CHECK(rdma_create_id(t->passive, &t->listener, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(t->listener, (struct sockaddr *)&t->addr) == 0);
	CHECK(rdma_listen(t->listener, backlog) == 0);
	t->addr.sin_port = rdma_get_src_port(t->listener);
	CHECK(t->addr.sin_port != 0);
	return LAB_PASSED;
}

static enum lab_verdict add_qp_on(struct rdma_cm_id *id, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 }, .qp_type = IBV_QPT_RC
	};

	CHECK(rdma_create_qp(id, pd, &init) == 0);
	CHECK(id->qp && id->pd && id->send_cq && id->recv_cq);
	return LAB_PASSED;
}

static enum lab_verdict add_qp(struct rdma_cm_id *id)
{
	return add_qp_on(id, NULL);
}

static enum lab_verdict route_client(struct two *t, struct rdma_cm_id **id)
{
	CHECK(rdma_create_id(t->active, id, t, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(*id, NULL, (struct sockaddr *)&t->addr, EVENT_MS) == 0);
	CHECK(type_of_next(t->active) == RDMA_CM_EVENT_ADDR_RESOLVED && (*id)->verbs);
	CHECK(rdma_resolve_route(*id, EVENT_MS) == 0);
	CHECK(type_of_next(t->active) == RDMA_CM_EVENT_ROUTE_RESOLVED);
	return add_qp(*id);
}

static struct rdma_conn_param parameters(const void *data, uint8_t length)
{
	return (struct rdma_conn_param){ .private_data = data,
		                             .private_data_len = length,
		                             .responder_resources = 2,
		                             .initiator_depth = 3,
		                             .retry_count = 3,
		                             .rnr_retry_count = 3 };
}

static enum lab_verdict request(struct two *t)
{
	struct rdma_conn_param param = parameters("question", 9);
	enum lab_verdict verdict = route_client(t, &t->client);
	struct rdma_cm_event *event;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_connect(t->client, &param) == 0);
	event = get(t->passive);
	CHECK(event && event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->listen_id == t->listener);
	CHECK(event->param.conn.private_data_len >= 9 && memcmp(event->param.conn.private_data, "question", 9) == 0);
	/* What one side may start the other side needs resources for. */
	CHECK(event->param.conn.responder_resources == 3 && event->param.conn.initiator_depth == 2);
	t->server = event->id;
	rdma_ack_cm_event(event);
	return LAB_PASSED;
}

static enum lab_verdict connect_two(struct two *t)
{
	struct rdma_conn_param param = parameters("answer", 7);
	enum lab_verdict verdict = open_two(t, 8);
	struct rdma_cm_event *event;

	if (verdict == LAB_PASSED)
		verdict = request(t);
	if (verdict == LAB_PASSED)
		verdict = add_qp(t->server);
	if (verdict != LAB_PASSED)
		return verdict;
	param.responder_resources = 3;
	param.initiator_depth = 2;
	CHECK(rdma_accept(t->server, &param) == 0);
	event = get(t->active);
	CHECK(event && event->event == RDMA_CM_EVENT_ESTABLISHED && event->status == 0);
	CHECK(event->param.conn.private_data_len >= 7 && memcmp(event->param.conn.private_data, "answer", 7) == 0);
	rdma_ack_cm_event(event);
	CHECK(type_of_next(t->passive) == RDMA_CM_EVENT_ESTABLISHED);
	return LAB_PASSED;
}

/* ---- cases ---- */

static enum lab_verdict cm__connect_and_data(void)
{
	struct two t;
	enum lab_verdict verdict = connect_two(&t);
	static char from[64] = "by rdma_cm", to[64];
	struct ibv_mr *from_mr, *to_mr;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	from_mr = rdma_reg_msgs(t.client, from, sizeof(from));
	to_mr = rdma_reg_msgs(t.server, to, sizeof(to));
	CHECK(from_mr && to_mr);
	CHECK(rdma_post_recv(t.server, NULL, to, sizeof(to), to_mr) == 0);
	CHECK(rdma_post_send(t.client, NULL, from, sizeof(from), from_mr, IBV_SEND_SIGNALED) == 0);
	CHECK(rdma_get_send_comp(t.client, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(rdma_get_recv_comp(t.server, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(strcmp(to, "by rdma_cm") == 0);
	return LAB_PASSED;
}

/* A domain on the identifier's device, so that memory can be registered before there is a queue pair. */
static bool has_domain(const struct rdma_cm_id *id)
{
	return id->verbs && id->pd && id->pd->context == id->verbs;
}

static enum lab_verdict cm__domain_comes_with_the_device(void)
{
	struct rdma_conn_param param = parameters(NULL, 0);
	struct two t;
	enum lab_verdict verdict = open_two(&t, 8);
	struct rdma_cm_id *id;
	struct rdma_cm_event *event;
	struct ibv_pd *pd;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(has_domain(t.listener));
	CHECK(rdma_create_id(t.active, &id, NULL, RDMA_PS_TCP) == 0 && !id->verbs && !id->pd);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&t.addr, EVENT_MS) == 0);
	CHECK(type_of_next(t.active) == RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(has_domain(id) && id->pd == t.listener->pd);
	CHECK(rdma_resolve_route(id, EVENT_MS) == 0);
	CHECK(type_of_next(t.active) == RDMA_CM_EVENT_ROUTE_RESOLVED);
	/* The queue pair's, where the caller brings one. */
	pd = ibv_alloc_pd(id->verbs);
	CHECK(pd && add_qp_on(id, pd) == LAB_PASSED && id->pd == pd);
	CHECK(rdma_connect(id, &param) == 0);
	event = get(t.passive);
	CHECK(event && event->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(has_domain(event->id) && event->id->pd == t.listener->pd);
	rdma_ack_cm_event(event);
	return LAB_PASSED;
}

static enum lab_verdict cm__domain_of_a_shared_queue(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct two t;
	enum lab_verdict verdict = open_two(&t, 8);
	struct ibv_pd *pd, *before;

	if (verdict != LAB_PASSED)
		return verdict;
	before = t.listener->pd;
	pd = ibv_alloc_pd(t.listener->verbs);
	CHECK(before && pd && rdma_create_srq(t.listener, pd, &attr) == 0);
	CHECK(t.listener->srq->pd == pd && t.listener->pd == before);
	return LAB_PASSED;
}

static enum lab_verdict cm__disconnect_reaches_both(void)
{
	struct two t;
	enum lab_verdict verdict = connect_two(&t);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_disconnect(t.client) == 0);
	CHECK(lab_state(t.client->qp) == IBV_QPS_ERR);
	CHECK(type_of_next(t.passive) == RDMA_CM_EVENT_DISCONNECTED);
	CHECK(rdma_disconnect(t.server) == 0);
	CHECK(type_of_next(t.active) == RDMA_CM_EVENT_DISCONNECTED);
	return LAB_PASSED;
}

static enum lab_verdict cm__timewait_ends(void)
{
	struct two t;
	struct rdma_cm_event *event;
	enum lab_verdict verdict = connect_two(&t);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_disconnect(t.client) == 0);
	CHECK(type_of_next(t.passive) == RDMA_CM_EVENT_DISCONNECTED);
	CHECK(rdma_disconnect(t.server) == 0);
	CHECK(type_of_next(t.active) == RDMA_CM_EVENT_DISCONNECTED);
	event = get_within(t.active, EVENT_MS);
	CHECK(event && event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT && event->id == t.client && event->status == 0);
	rdma_ack_cm_event(event);
	event = get_within(t.passive, EVENT_MS);
	CHECK(event && event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT && event->id == t.server);
	rdma_ack_cm_event(event);
	return LAB_PASSED;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * A path that breaks is no event. A side that asks something learns that no answer comes, and a
 * side that disconnects has to give up waiting for the other. Only softverbs can be made to break
 * one.
 */
static enum lab_verdict cm__lost_path_is_silent(void)
{
	static uint64_t word;
	struct timespec until_cut = { .tv_sec = 1 };
	int64_t begun_ms = now_ms();
	struct two t;
	struct rdma_cm_event *event;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	enum lab_verdict verdict;

	/*
	 * 701 ms, which leaves a slow machine time for what both sides exchange before; at most
	 * until_cut.
	 */
	setenv("SOFTVERBS_ADVERSARY", "7,delay=0,late=0,reorder=0,cut=1,within=1000", 1);
	verdict = connect_two(&t);
	if (verdict == LAB_FAILED && now_ms() - begun_ms >= CUT_MS)
		return LAB_LATE;
	if (verdict != LAB_PASSED)
		return verdict;
	if (strcmp(ibv_get_device_name(t.client->verbs->device), "soft0") != 0)
		return LAB_UNSUPPORTED;
	nanosleep(&until_cut, NULL);
	CHECK(get_within(t.active, 0) == NULL && get_within(t.passive, 0) == NULL);
	CHECK(lab_state(t.client->qp) == IBV_QPS_RTS && lab_state(t.server->qp) == IBV_QPS_RTS);
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_id *id = i ? t.client : t.server;

		mr = rdma_reg_msgs(id, &word, sizeof(word));
		CHECK(mr && rdma_post_send(id, NULL, &word, sizeof(word), mr, IBV_SEND_SIGNALED) == 0);
		CHECK(rdma_get_send_comp(id, &wc) == 1 && wc.status == IBV_WC_RETRY_EXC_ERR);
	}
	CHECK(rdma_disconnect(t.client) == 0);
	CHECK(get_within(t.passive, 0) == NULL);
	event = get_within(t.active, EVENT_MS);
	CHECK(event && event->event == RDMA_CM_EVENT_DISCONNECTED && event->status == -ETIMEDOUT);
	rdma_ack_cm_event(event);
	CHECK(get_within(t.passive, 0) == NULL);
	return LAB_PASSED;
}

static enum lab_verdict cm__destroyed_identifier_disconnects(void)
{
	struct two t;
	enum lab_verdict verdict = connect_two(&t);

	if (verdict != LAB_PASSED)
		return verdict;
	rdma_destroy_qp(t.client);
	CHECK(rdma_destroy_id(t.client) == 0);
	CHECK(type_of_next(t.passive) == RDMA_CM_EVENT_DISCONNECTED);
	return LAB_PASSED;
}

/*
 * The passive side gives up after it has accepted, and before the active one has fetched the
 * answer: a connection that no other side has is not established. On a wire the word of it may come
 * later.
 */
static enum lab_verdict cm__answer_of_who_has_gone(void)
{
	struct timespec until_heard = { .tv_nsec = 50000000 };
	struct rdma_conn_param param = parameters("answer", 7);
	struct two t;
	enum lab_verdict verdict = open_two(&t, 8);
	int type;

	if (verdict == LAB_PASSED)
		verdict = request(&t);
	if (verdict == LAB_PASSED)
		verdict = add_qp(t.server);
	if (verdict != LAB_PASSED)
		return verdict;
	if (strcmp(ibv_get_device_name(t.client->verbs->device), "soft0") != 0)
		return LAB_UNSUPPORTED;
	CHECK(rdma_accept(t.server, &param) == 0);
	rdma_destroy_qp(t.server);
	CHECK(rdma_destroy_id(t.server) == 0);
	nanosleep(&until_heard, NULL);
	type = type_of_next(t.active);
	/* The device's thread was late, if it was not there before the answer could be used. */
	if (type == RDMA_CM_EVENT_ESTABLISHED)
		return LAB_LATE;
	CHECK(type == RDMA_CM_EVENT_CONNECT_ERROR || type == RDMA_CM_EVENT_UNREACHABLE);
	CHECK(lab_state(t.client->qp) == IBV_QPS_ERR || type == RDMA_CM_EVENT_UNREACHABLE);
	return LAB_PASSED;
}

static enum lab_verdict cm__reject_carries_data(void)
{
	struct two t;
	enum lab_verdict verdict = open_two(&t, 8);
	struct rdma_cm_event *event;

	if (verdict == LAB_PASSED)
		verdict = request(&t);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_reject(t.server, "no", 3) == 0);
	event = get(t.active);
	CHECK(event && event->event == RDMA_CM_EVENT_REJECTED && event->status == REASON_CONSUMER);
	CHECK(event->param.conn.private_data_len >= 3 && memcmp(event->param.conn.private_data, "no", 3) == 0);
	rdma_ack_cm_event(event);
	return LAB_PASSED;
}

static enum lab_verdict cm__nobody_listens(void)
{
	struct two t;
	struct rdma_conn_param param = parameters(NULL, 0);
	struct rdma_cm_event *event;
	enum lab_verdict verdict = open_two(&t, 8);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_destroy_id(t.listener) == 0);
	verdict = route_client(&t, &t.client);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_connect(t.client, &param) == 0);
	event = get(t.active);
	CHECK(event && event->event == RDMA_CM_EVENT_REJECTED && event->status == REASON_NO_LISTENER);
	rdma_ack_cm_event(event);
	return LAB_PASSED;
}

static enum lab_verdict cm__nobody_listens_synchronously(void)
{
	struct two t;
	struct rdma_conn_param param = parameters(NULL, 0);
	struct rdma_cm_id *id;
	enum lab_verdict verdict = open_two(&t, 8);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_destroy_id(t.listener) == 0);
	CHECK(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&t.addr, EVENT_MS) == 0);
	CHECK(rdma_resolve_route(id, EVENT_MS) == 0 && add_qp(id) == LAB_PASSED);
	CHECK(rdma_connect(id, &param) == -1 && errno == ECONNREFUSED);
	return LAB_PASSED;
}

static enum lab_verdict cm__private_data_is_bounded(void)
{
	static const uint8_t data[200];
	struct two t;
	struct rdma_conn_param param = parameters(data, 57);
	enum lab_verdict verdict = open_two(&t, 8);

	if (verdict == LAB_PASSED)
		verdict = route_client(&t, &t.client);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_connect(t.client, &param) != 0);
	param.private_data_len = 56;
	CHECK(rdma_connect(t.client, &param) == 0);
	return LAB_PASSED;
}

static enum lab_verdict cm__port_is_taken_once(void)
{
	struct two t;
	struct rdma_cm_id *second;
	enum lab_verdict verdict = open_two(&t, 8);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(rdma_create_id(t.passive, &second, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(second, (struct sockaddr *)&t.addr) != 0 && errno == EADDRINUSE);
	return LAB_PASSED;
}

static enum lab_verdict cm__foreign_address_cannot_be_bound(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc6336401) };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (!channel)
		return LAB_UNSUPPORTED;
	CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(id, (struct sockaddr *)&addr) != 0);
	return LAB_PASSED;
}

static enum lab_verdict cm__nonblocking_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;

	if (!channel)
		return LAB_UNSUPPORTED;
	CHECK(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK) == 0);
	CHECK(rdma_get_cm_event(channel, &event) != 0 && errno == EAGAIN);
	return LAB_PASSED;
}

static enum lab_verdict cm__migrate_takes_events_along(void)
{
	struct two t;
	struct rdma_event_channel *other;
	enum lab_verdict verdict = connect_two(&t);

	if (verdict != LAB_PASSED)
		return verdict;
	other = rdma_create_event_channel();
	CHECK(other && rdma_migrate_id(t.server, other) == 0 && t.server->channel == other);
	CHECK(rdma_disconnect(t.client) == 0);
	CHECK(type_of_next(other) == RDMA_CM_EVENT_DISCONNECTED);
	return LAB_PASSED;
}

/* Take events until one of an identifier with this context comes. */
static void *fetch_until_the_last(void *arg)
{
	struct rdma_event_channel *channel = arg;
	struct rdma_cm_event *event;
	bool last = false;

	while (!last && rdma_get_cm_event(channel, &event) == 0) {
		last = event->id->context == channel;
		rdma_ack_cm_event(event);
	}
	return NULL;
}

/* An identifier takes its events along, also from under the hands of a thread that waits for one. */
static enum lab_verdict cm__destroyed_while_its_event_is_fetched(void)
{
	enum { ROUNDS = 3000 };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	struct sockaddr_in addr;
	pthread_t thread;

	if (!channel || !find_addr(&addr, RDMA_PS_TCP))
		return LAB_UNSUPPORTED;
	CHECK(pthread_create(&thread, NULL, fetch_until_the_last, channel) == 0);
	for (int i = 0; i <= ROUNDS; i++) {
		CHECK(rdma_create_id(channel, &id, i < ROUNDS ? NULL : channel, RDMA_PS_TCP) == 0);
		CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, EVENT_MS) == 0);
		CHECK(i == ROUNDS || rdma_destroy_id(id) == 0);
	}
	CHECK(pthread_join(thread, NULL) == 0);
	return LAB_PASSED;
}

static enum lab_verdict cm__acknowledge_timeout(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	uint8_t timeout = 17;

	if (!channel)
		return LAB_UNSUPPORTED;
	CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout)) == 0);
	CHECK(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 0) != 0);
	return LAB_PASSED;
}

/* A receiver that the machine holds up for some milliseconds does not break the connection. */
static enum lab_verdict cm__receiver_has_time(void)
{
	struct two t;
	enum lab_verdict verdict = connect_two(&t);
	struct rdma_cm_id *sides[] = { t.client, t.server };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (verdict != LAB_PASSED)
		return verdict;
	for (int i = 0; i < 2; i++) {
		CHECK(ibv_query_qp(sides[i]->qp, &attr, IBV_QP_MIN_RNR_TIMER, &init) == 0);
		CHECK(attr.min_rnr_timer == 0);
	}
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "cm: connect, and data", cm__connect_and_data, "rdma_cm(7)" },
	{ "cm: domain comes with the device", cm__domain_comes_with_the_device, "rdma-core, librdmacm/cma.c, ucma_get_device" },
	{ "cm: domain of a shared queue", cm__domain_of_a_shared_queue, "rdma-core, librdmacm/cma.c, rdma_create_srq_ex" },
	{ "cm: disconnect reaches both", cm__disconnect_reaches_both, "rdma_disconnect(3)" },
	{ "cm: timewait ends", cm__timewait_ends, "rdma_get_cm_event(3)" },
	{ "cm: lost path is silent", cm__lost_path_is_silent, "rdma_get_cm_event(3)" },
	{ "cm: destroyed identifier disconnects", cm__destroyed_identifier_disconnects, "rdma_destroy_id(3)" },
	{ "cm: answer of who has gone", cm__answer_of_who_has_gone, "rdma_get_cm_event(3)" },
	{ "cm: reject carries data", cm__reject_carries_data, "rdma_reject(3)" },
	{ "cm: nobody listens", cm__nobody_listens, "rdma_get_cm_event(3)" },
	{ "cm: nobody listens, synchronously", cm__nobody_listens_synchronously, "rdma_get_cm_event(3)" },
	{ "cm: private data is bounded", cm__private_data_is_bounded, "rdma_connect(3)" },
	{ "cm: port is taken once", cm__port_is_taken_once, "rdma_bind_addr(3)" },
	{ "cm: foreign address cannot be bound", cm__foreign_address_cannot_be_bound, "rdma_bind_addr(3)" },
	{ "cm: non-blocking channel", cm__nonblocking_channel, "rdma_create_event_channel(3)" },
	{ "cm: migrate takes events along", cm__migrate_takes_events_along, "rdma_migrate_id(3)" },
	{ "cm: destroyed while its event is fetched", cm__destroyed_while_its_event_is_fetched, "rdma_destroy_id(3)" },
	{ "cm: acknowledge timeout", cm__acknowledge_timeout, "rdma_set_option(3)" },
	{ "cm: receiver has time", cm__receiver_has_time, "Linux, drivers/infiniband/core/cm.c, cm_init_qp_rtr_attr" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
