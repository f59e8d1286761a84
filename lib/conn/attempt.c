// SPDX-License-Identifier: BSD-2-Clause
/* See attempt.h. */
#include "conn/attempt.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "conn/conn.h"
#include "conn/goodbye.h"
#include "job/job.h"
#include "job/service_queue.h"
#include "pages/shortage.h"

#define ATTEMPT_FIRST_MS 1000 /* time limit of the first attempt; each further one gets half as much again */
#define BACKOFF_MS 20
#define ACK_TIMEOUT 17 /* 4.096 us * 2^17 = 0.54 s; with the retries 3.2 s */
#define RETRY_COUNT 5  /* more would leave too little of the 5 s in which an outage is reported */
#define SHORT_BACKOFF_MS 100
#define SHORT_REPORT_NS NS_PER_SECOND

static_assert(ROUTE_WHY_BYTES <= DEATH_TEXT_BYTES && ENDPOINT_WHY_BYTES <= DEATH_TEXT_BYTES, "reasons of a death");

static void count_attempt(struct peer *peer, bool on)
{
	if (peer->conn->counted == on)
		return;
	peer->conn->counted = on;
	service_queue_connecting(peer->job, on ? 1 : -1);
}

void attempt_drop_id(struct peer *peer)
{
	struct conn *conn = peer->conn;

	count_attempt(peer, false);
	if (!conn->id)
		return;
	wire_drop_pair(peer->device, conn->id, &conn->pair);
	attempt_functions(peer)->destroy_id(conn->id);
	conn->id = NULL;
}

void attempt_free(struct peer *peer)
{
	attempt_drop_id(peer);
	sodium_memzero(peer->conn, sizeof(*peer->conn)); /* the peer's key */
	free(peer->conn);
	peer->conn = NULL;
}

void attempt_give_up(struct peer *peer, uint64_t now)
{
	struct conn *conn = peer->conn;
	unsigned tried_ms = (unsigned)((now - conn->started_ns) / NS_PER_MS);
	char text[DEATH_TEXT_BYTES];

	snprintf(text, sizeof(text), "%s at %.48s: %.80s; %u attempts in %u ms",
	         conn->refused ? "it refuses connections" : "cannot be reached",
	         conn->address ? conn->address : "(address unknown)", *conn->last ? conn->last : "no answer", conn->attempt,
	         tried_ms);
	if (conn->refused)
		rank_unreachable(peer->job, peer->rank, text);
	else
		rank_died(peer->job, peer->rank, text);
	attempt_free(peer);
}

void attempt_enter(struct peer *peer, enum conn_state state, uint64_t limit_ms)
{
	peer->conn->state = state;
	peer->conn->step_ns = now_ns() + limit_ms * NS_PER_MS;
}

void attempt_retry(struct peer *peer, const char *what, int status)
{
	struct conn *conn = peer->conn;

	snprintf(conn->last, sizeof(conn->last), "%s, status %d", what, status);
	conn->refused = false;
	attempt_drop_id(peer);
	attempt_enter(peer, CONN_BACKOFF, BACKOFF_MS + now_ns() / 1000 % BACKOFF_MS);
}

void attempt_set_deadline(struct peer *peer)
{
	uint64_t limit_ms = (uint64_t)peer_connect_limit_ms(peer);

	peer->conn->deadline_ns = limit_ms ? now_ns() + limit_ms * NS_PER_MS : UINT64_MAX;
}

/*
 * Restarts the deadline after a shortage here (error > 0) or at the peer (< 0), and reports one
 * that persists.
 */
static void suffer_shortage(struct peer *peer, int error)
{
	struct conn *conn = peer->conn;
	uint64_t now = now_ns();

	attempt_set_deadline(peer);
	attempt_enter(peer, CONN_BACKOFF, SHORT_BACKOFF_MS);
	if (conn->short_ns == 0)
		conn->short_ns = now;
	if (now - conn->short_ns < SHORT_REPORT_NS)
		return;
	conn->short_ns = now;
	__atomic_store_n(&peer->shortage, error, __ATOMIC_RELAXED);
	counter_store(&peer->shortage_ns, now); /* pairs with the counter_load in wait_watch */
}

void attempt_retry_error(struct peer *peer, const char *what, int error)
{
	attempt_retry(peer, what, error);
	if (is_shortage(error < 0 ? -error : error) && !goodbye_has_begun(&peer->job->goodbye))
		suffer_shortage(peer, error);
}

static bool parse_addr(struct conn *conn, const char *text)
{
	char host[DEVICE_ADDR_TEXT_BYTES];
	struct sockaddr_in *in = (struct sockaddr_in *)&conn->addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&conn->addr;
	uint16_t port;

	if (sscanf(text, "%63s %hu", host, &port) != 2)
		return false;
	memset(&conn->addr, 0, sizeof(conn->addr));
	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		return true;
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	return inet_pton(AF_INET6, host, &in6->sin6_addr) == 1;
}

uint64_t attempt_limit_ms(const struct peer *peer)
{
	uint64_t limit = (uint64_t)ATTEMPT_FIRST_MS * job_timeout_scale(peer->job);

	for (uint32_t i = 1; i < peer->conn->attempt && i < 8; i++)
		limit += limit / 2;
	return limit;
}

static void resolve(struct peer *peer)
{
	struct conn *conn = peer->conn;
	const struct device *device = peer->device;

	attempt_enter(peer, CONN_RESOLVE, attempt_limit_ms(peer));
	if (device->functions->create_id(device->channel, &conn->id, peer, RDMA_PS_TCP)) {
		conn->id = NULL;
		attempt_retry_error(peer, "rdma_create_id", errno);
	} else if (device->functions->resolve_addr(conn->id, (struct sockaddr *)&device->addr,
	                                           (struct sockaddr *)&conn->addr,
	                                           RESOLVE_TIMEOUT_MS * (int)job_timeout_scale(peer->job))) {
		attempt_retry_error(peer, "rdma_resolve_addr", errno);
	}
}

static bool use_address(struct peer *peer, bool soft, char why[DEATH_TEXT_BYTES])
{
	struct conn *conn = peer->conn;

	conn->address = soft ? conn->endpoint.soft : conn->endpoint.card;
	if (parse_addr(conn, conn->address))
		return true;
	snprintf(why, DEATH_TEXT_BYTES, "its address is malformed: \"%s\"", conn->address);
	return false;
}

/* Sends a request, or queues for one. The deadline starts with the first. */
static void begin_request(struct peer *peer)
{
	struct conn *conn = peer->conn;

	if (!service_queue_may_connect(peer->job)) {
		attempt_enter(peer, CONN_QUEUED, 0);
		return;
	}
	if (conn->state == CONN_QUEUED || conn->state == CONN_ADDRESS)
		attempt_set_deadline(peer);
	count_attempt(peer, true);
	conn->attempt++;
	resolve(peer);
}

void attempt_begin(struct peer *peer)
{
	struct conn *conn = peer->conn;
	char why[DEATH_TEXT_BYTES];

	if (!conn->address && peer->rank == peer->job->rank) {
		conn->endpoint = peer->job->endpoint;
		use_address(peer, device_maps_memory(peer->device), why);
	}
	if (conn->address) {
		begin_request(peer);
		return;
	}
	conn->state = CONN_ADDRESS; /* no time limit: the rank may still be starting */
	if (peer->job->boot->ops->get(peer->job->boot, peer->rank, ENDPOINT_BOOT_KEY))
		attempt_retry(peer, err_text(), 0);
}

bool attempt_make(struct peer *peer)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		rank_died(peer->job, peer->rank, "out of memory while connecting");
		return false;
	}
	peer->conn = conn;
	conn->started_ns = now_ns();
	attempt_set_deadline(peer);
	peer_set_state(peer, PEER_CONNECTING);
	service_queue_watch(peer);
	return true;
}

/* Declares dead a peer that was never connected. Frees peer->conn. */
static void give_up_unknown(struct peer *peer, const char *why)
{
	rank_died(peer->job, peer->rank, why);
	attempt_free(peer);
}

/* Frees peer->conn. */
static void give_up_route(struct peer *peer, const char *why)
{
	rank_unreachable(peer->job, peer->rank, why);
	attempt_free(peer);
}

/* Chooses the route to the peer, as its side does. False: there is none, with the reason. */
static bool choose_way(struct peer *peer, char why[DEATH_TEXT_BYTES])
{
	enum route route;

	if (peer->is_atomics_peer)
		return use_address(peer, device_maps_memory(peer->device), why);
	route = route_choose(&peer->job->endpoint, &peer->conn->endpoint, why);
	if (route == ROUTE_NONE)
		return false;
	peer_set_device(peer, devices_find(&peer->job->devices, route == ROUTE_SOFT));
	return use_address(peer, route == ROUTE_SOFT, why);
}

void conn_endpoint(struct peer *peer, const void *value, size_t size_bytes)
{
	struct conn *conn = peer->conn;
	char why[DEATH_TEXT_BYTES];

	if (!conn || conn->state != CONN_ADDRESS)
		return;
	if (!value)
		give_up_unknown(peer, "ended before it could be connected to");
	else if (!endpoint_decode(&conn->endpoint, value, size_bytes, why) || !choose_way(peer, why))
		give_up_route(peer, why);
	else
		begin_request(peer);
}

/* Returns the passive side's key, which both directions prove. */
static const uint8_t *proof_key(const struct peer *peer, enum handshake_direction direction)
{
	return direction == HANDSHAKE_REQUEST ? peer->conn->endpoint.key : peer->job->endpoint.key;
}

struct rdma_conn_param attempt_param(const struct peer *peer, uint32_t attempt, enum handshake_direction direction,
                                     uint8_t bytes[HANDSHAKE_BYTES])
{
	struct oriel_job *job = peer->job;
	const struct piece *directory = &job->directory.tables[peer->device->index].piece;
	struct handshake data = {
		.rank = (uint32_t)job->rank | (peer->is_atomics_peer ? HANDSHAKE_ATOMICS : 0),
		.attempt = attempt,
		.area_addr = (uint64_t)(uintptr_t)peer->area,
		.area_rkey = peer_area_keys(peer).rkey,
		.directory_addr = (uint64_t)(uintptr_t)directory->addr,
		.directory_rkey = directory->keys[peer->device->index].rkey,
	};

	handshake_encode(bytes, &data, direction, (uint32_t)peer->rank, proof_key(peer, direction));
	return (struct rdma_conn_param){
		.private_data = bytes,
		.private_data_len = HANDSHAKE_BYTES,
		.responder_resources = peer->device->reads_in_flight,
		.initiator_depth = peer->device->reads_in_flight,
		.retry_count = RETRY_COUNT,
		.rnr_retry_count = RETRY_COUNT,
	};
}

/* Older kernels lack the option; the device's own timeout is about as long. */
static void set_ack_timeout(const struct peer *peer, struct rdma_cm_id *id)
{
	uint8_t timeout = ACK_TIMEOUT;

	attempt_functions(peer)->set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout));
}

int attempt_make_pair(struct peer *peer)
{
	struct conn *conn = peer->conn;

	set_ack_timeout(peer, conn->id);
	return wire_make_pair(peer->device, conn->id, (uint64_t)peer->rank, &conn->pair);
}

void attempt_request(struct peer *peer)
{
	struct conn *conn = peer->conn;
	uint8_t bytes[HANDSHAKE_BYTES];
	struct rdma_conn_param param;

	if (attempt_make_pair(peer)) {
		attempt_retry_error(peer, err_text(), errno);
		return;
	}
	param = attempt_param(peer, conn->attempt, HANDSHAKE_REQUEST, bytes);
	conn->state = CONN_CONNECT;
	if (attempt_functions(peer)->connect(conn->id, &param))
		attempt_retry_error(peer, "rdma_connect", errno);
}
