// SPDX-License-Identifier: BSD-2-Clause
/*
 * conn.c - one RC connection for each pair of ranks that communicate, made with rdma_cm
 *
 * DESIGN NOTES
 *
 * Active side: CONN_QUEUED (too many attempts in progress) -> CONN_ADDRESS (the bootstrap is asked
 * for the peer's address) -> CONN_RESOLVE (rdma_cm resolves address, then route) -> CONN_CONNECT
 * (request sent) -> up. When an attempt fails or takes too long, the next one starts after
 * CONN_BACKOFF, until the deadline.
 *
 * Passive side: a request is checked (handshake.h) and answered. The connection is CONN_ACCEPTED
 * until rdma_cm reports ESTABLISHED, or the established peer has written its attempt number into
 * area->up: rdma_cm's message can be lost, and is repeated only after seconds. The passive side
 * keeps its queue pair until the deadline, since a slow peer may still become established. A peer
 * that has given up sends a newer request.
 *
 * Both sides at once: the lower rank's request wins. The lower rank rejects the other's while its
 * own is in progress. The higher rank drops its own when the lower's arrives, or, rejected, waits
 * for it in CONN_YIELD within the same deadline. A newer attempt replaces a half-open one.
 *
 * Other steps have a time limit, except on softverbs, where nothing gets lost and the kernel
 * reports deaths. When the deadline passes, the peer is dead, with address, last event and status.
 * If the last attempt failed because either side is short of descriptors or memory, waiting calls
 * report that (peer_shortage), and attempts continue.
 *
 * A rank that is reached by softverbs may have a second connection (atomics_peer.h). A bit of the
 * request's rank selects the struct peer.
 *
 * In oriel_finalize (goodbye.h) no attempt starts, and requests are rejected. An attempt in
 * CONN_CONNECT or CONN_ACCEPTED, of which the other side may know, continues and is not repeated.
 */
#include "conn/conn.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/process.h"
#include "base/settings.h"
#include "base/util.h"
#include "conn/atomics_peer.h"
#include "conn/goodbye.h"
#include "job/job.h"
#include "job/peer.h"
#include "job/service_queue.h"
#include "pages/shortage.h"
#include "verbs/handshake.h"

#define ATTEMPT_FIRST_MS 1000 /* time limit of the first attempt; each further one gets half as much again */
#define BACKOFF_MS 20
#define YIELD_MS 4000 /* for the other side's request, if connecting has no time limit */
#define RESOLVE_TIMEOUT_MS 1000
#define ACK_TIMEOUT 17    /* 4.096 us * 2^17 = 0.54 s; with the retries 3.2 s */
#define RETRY_COUNT 5     /* more would leave too little of the 5 s in which an outage is reported */
#define CM_NO_RESOURCES 3 /* a reject's status: the peer's CM is short of resources */
#define CM_NO_LISTENER 8  /* a status without a listener: the rank may have ended */
#define SHORT_BACKOFF_MS 100
#define SHORT_REPORT_NS NS_PER_SECOND
#define LAST_TEXT_BYTES 96

/* First byte of a reject's private data. */
enum reject_reason {
	REJECT_STRANGER, /* no proof of the key, or no memory */
	REJECT_BUSY,     /* the rank's own request is in progress */
	REJECT_SHORT,    /* no descriptors */
	REJECT_LEFT,     /* the rank has left the job */
	REJECT_MEMORY,
	REJECT_NOT, /* never sent */
};

static_assert(ROUTE_WHY_BYTES <= DEATH_TEXT_BYTES && ENDPOINT_WHY_BYTES <= DEATH_TEXT_BYTES, "reasons of a death");

enum conn_state {
	CONN_QUEUED,
	CONN_ADDRESS,
	CONN_RESOLVE,
	CONN_CONNECT,
	CONN_ACCEPTED,
	CONN_YIELD,
	CONN_BACKOFF,
};

struct conn {
	enum conn_state state;
	bool counted;          /* among the job's attempts in progress */
	uint32_t attempt;      /* of our last request */
	uint32_t peer_attempt; /* in CONN_ACCEPTED: of the answered request */
	uint64_t started_ns;
	uint64_t deadline_ns; /* of all attempts together */
	uint64_t step_ns;     /* time limit of the present state */
	struct rdma_cm_id *id;
	struct wire_pair pair;
	struct endpoint endpoint; /* the peer's */
	const char *address;      /* in use; NULL until the endpoint is known */
	struct sockaddr_storage addr;
	/* When a shortage began, or was last reported; 0: never. */
	uint64_t short_ns;
	bool refused; /* the last attempt, by the peer */
	char last[LAST_TEXT_BYTES];
};

static const struct verbs_functions *functions_of(const struct peer *peer)
{
	return peer->device->functions;
}

static void count_attempt(struct peer *peer, bool on)
{
	if (peer->conn->counted == on)
		return;
	peer->conn->counted = on;
	service_queue_connecting(peer->job, on ? 1 : -1);
}

static void drop_id(struct peer *peer)
{
	struct conn *conn = peer->conn;

	count_attempt(peer, false);
	if (!conn->id)
		return;
	wire_drop_pair(peer->device, conn->id, &conn->pair);
	functions_of(peer)->destroy_id(conn->id);
	conn->id = NULL;
}

/* Frees peer->conn; the caller returns at once. */
static void free_conn(struct peer *peer)
{
	drop_id(peer);
	sodium_memzero(peer->conn, sizeof(*peer->conn)); /* the peer's key */
	free(peer->conn);
	peer->conn = NULL;
}

/* Declares the peer dead, or unreachable if it refuses. Frees peer->conn. */
static void give_up(struct peer *peer, uint64_t now)
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
	free_conn(peer);
}

static void enter(struct peer *peer, enum conn_state state, uint64_t limit_ms)
{
	peer->conn->state = state;
	peer->conn->step_ns = now_ns() + limit_ms * NS_PER_MS;
}

/*
 * Drops the failed attempt and schedules the next, with jitter so that two sides do not collide for
 * ever. The caller must return.
 */
static void retry(struct peer *peer, const char *what, int status)
{
	struct conn *conn = peer->conn;

	snprintf(conn->last, sizeof(conn->last), "%s, status %d", what, status);
	conn->refused = false;
	drop_id(peer);
	enter(peer, CONN_BACKOFF, BACKOFF_MS + now_ns() / 1000 % BACKOFF_MS);
}

static void set_deadline(struct peer *peer)
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

	set_deadline(peer);
	enter(peer, CONN_BACKOFF, SHORT_BACKOFF_MS);
	if (conn->short_ns == 0)
		conn->short_ns = now;
	if (now - conn->short_ns < SHORT_REPORT_NS)
		return;
	conn->short_ns = now;
	__atomic_store_n(&peer->shortage, error, __ATOMIC_RELAXED);
	counter_store(&peer->shortage_ns, now); /* pairs with the counter_load in wait_watch */
}

/* Calls retry for an errno value, negative if the peer's. */
static void retry_error(struct peer *peer, const char *what, int error)
{
	retry(peer, what, error);
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

static uint64_t attempt_limit_ms(const struct peer *peer)
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

	enter(peer, CONN_RESOLVE, attempt_limit_ms(peer));
	if (device->functions->create_id(device->channel, &conn->id, peer, RDMA_PS_TCP)) {
		conn->id = NULL;
		retry_error(peer, "rdma_create_id", errno);
	} else if (device->functions->resolve_addr(conn->id, (struct sockaddr *)&device->addr,
	                                           (struct sockaddr *)&conn->addr,
	                                           RESOLVE_TIMEOUT_MS * (int)job_timeout_scale(peer->job))) {
		retry_error(peer, "rdma_resolve_addr", errno);
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
		enter(peer, CONN_QUEUED, 0);
		return;
	}
	if (conn->state == CONN_QUEUED || conn->state == CONN_ADDRESS)
		set_deadline(peer);
	count_attempt(peer, true);
	conn->attempt++;
	resolve(peer);
}

static void begin_attempt(struct peer *peer)
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
		retry(peer, err_text(), 0);
}

static bool make_conn(struct peer *peer)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		rank_died(peer->job, peer->rank, "out of memory while connecting");
		return false;
	}
	peer->conn = conn;
	conn->started_ns = now_ns();
	set_deadline(peer);
	peer_set_state(peer, PEER_CONNECTING);
	service_queue_watch(peer);
	return true;
}

void conn_want(struct peer *peer)
{
	if (state_load(&peer->state) == PEER_NEW && !goodbye_has_begun(&peer->job->goodbye) && make_conn(peer))
		begin_attempt(peer);
}

/* Declares dead a peer that was never connected. Frees peer->conn. */
static void give_up_unknown(struct peer *peer, const char *why)
{
	rank_died(peer->job, peer->rank, why);
	free_conn(peer);
}

/* Frees peer->conn. */
static void give_up_route(struct peer *peer, const char *why)
{
	rank_unreachable(peer->job, peer->rank, why);
	free_conn(peer);
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

static void fill_private(const struct peer *peer, uint32_t attempt, enum handshake_direction direction,
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
}

static struct rdma_conn_param conn_param(const struct peer *peer, const uint8_t bytes[HANDSHAKE_BYTES])
{
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

	functions_of(peer)->set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout));
}

static void connect_request(struct peer *peer)
{
	struct conn *conn = peer->conn;
	uint8_t bytes[HANDSHAKE_BYTES];
	struct rdma_conn_param param;

	set_ack_timeout(peer, conn->id);
	if (wire_make_pair(peer->device, conn->id, (uint64_t)peer->rank, &conn->pair)) {
		retry_error(peer, err_text(), errno);
		return;
	}
	fill_private(peer, conn->attempt, HANDSHAKE_REQUEST, bytes);
	param = conn_param(peer, bytes);
	conn->state = CONN_CONNECT;
	if (functions_of(peer)->connect(conn->id, &param))
		retry_error(peer, "rdma_connect", errno);
}

static void remember_remote(struct peer *peer, const struct handshake *data)
{
	peer->remote_area = (struct remote){ data->area_addr, data->area_rkey };
	peer->remote_directory = (struct remote){ data->directory_addr, data->directory_rkey };
}

static void report_up(struct peer *peer, uint32_t attempt)
{
	struct remote up = { peer->remote_area.addr + offsetof(struct area, up), peer->remote_area.rkey };
	uint64_t *there = direct_words(&peer->direct, up, sizeof(*there)), number;

	/* Both pair with the flag_load in peer_reported_up. */
	if (there)
		flag_store(there, attempt);
	else
		wire_flag(&peer->wire, 0, attempt, up, &number);
}

/* Hands the queue pair to the data path. Frees peer->conn. */
static void established(struct peer *peer)
{
	struct conn *conn = peer->conn;
	bool active = conn->state == CONN_CONNECT;
	uint32_t attempt = conn->attempt;

	peer->id = conn->id;
	peer->pair = conn->pair;
	conn->id = NULL;
	conn->pair.cq = NULL;
	free_conn(peer);
	wire_attach(&peer->wire, peer->device, &peer->pair, peer->remote_area,
	            wire_sge(&peer->area->sink, sizeof(peer->area->sink), peer_area_keys(peer).lkey));
	if (active)
		report_up(peer, attempt);
	tell(peer->job->rank, "rank %d is reached by device %s at %s", peer->rank, device_name(peer->device),
	     peer->device->addr_text);
	peer->up_ns = process_clock_ns();
	peer_set_state(peer, PEER_UP);
	if (goodbye_has_begun(&peer->job->goodbye))
		goodbye_say(peer);
	service_queue_watch(peer);
}

static void answered(struct peer *peer, const struct handshake *data)
{
	if (!data) {
		retry(peer, "the answer does not prove the key", 0);
		return;
	}
	remember_remote(peer, data);
	established(peer);
}

/* Requests of others. */

static void reject(const struct verbs_functions *functions, struct rdma_cm_id *id, uint8_t reason)
{
	functions->reject(id, &reason, sizeof(reason));
	functions->destroy_id(id);
}

/* Returns whether to accept the peer's request in spite of an attempt of this side. */
static bool request_wins(const struct peer *peer)
{
	const struct conn *conn = peer->conn;

	if (!conn)
		return state_load(&peer->state) == PEER_NEW;
	switch (conn->state) {
	case CONN_RESOLVE:
	case CONN_CONNECT:
		return peer->rank < peer->job->rank;
	case CONN_ACCEPTED: /* the peer makes one request at a time, so it has dropped the one before */
	case CONN_QUEUED:
	case CONN_ADDRESS:
	case CONN_YIELD:
	case CONN_BACKOFF:
		return true;
	}
	return false;
}

static void refuse(struct peer *peer, const char *what, int error)
{
	uint8_t reason = shortage_code(error) == ORIEL_ERR_LIMIT ? REJECT_SHORT : REJECT_MEMORY;

	if (is_shortage(error))
		functions_of(peer)->reject(peer->conn->id, &reason, sizeof(reason));
	retry_error(peer, what, error);
}

static void accept_request(struct peer *peer, const struct device *device, struct rdma_cm_id *id,
                           const struct handshake *data)
{
	struct conn *conn = peer->conn;
	uint8_t bytes[HANDSHAKE_BYTES];
	struct rdma_conn_param param;

	drop_id(peer);
	peer_set_device(peer, device); /* the device that the peer's rank has chosen */
	param = conn_param(peer, bytes);
	conn->id = id;
	conn->peer_attempt = data->attempt;
	set_deadline(peer);
	id->context = peer;
	remember_remote(peer, data);
	flag_store(&peer->area->up, 0); /* before the answer lets the peer write it */
	set_ack_timeout(peer, id);
	fill_private(peer, data->attempt, HANDSHAKE_ANSWER, bytes);
	enter(peer, CONN_ACCEPTED, attempt_limit_ms(peer) * 2);
	if (wire_make_pair(peer->device, id, (uint64_t)peer->rank, &conn->pair))
		refuse(peer, err_text(), errno);
	else if (functions_of(peer)->accept(id, &param))
		refuse(peer, "rdma_accept", errno);
}

static int requested_peer(struct oriel_job *job, const struct device *device, uint32_t rank, struct peer **peer)
{
	if (rank & HANDSHAKE_ATOMICS)
		return atomics_peer_for_request(job, (int)(rank & ~HANDSHAKE_ATOMICS), device, peer);
	return peer_get(job, (int)rank, peer);
}

/* Returns why to reject a proven request; REJECT_NOT: *peer accepts it. */
static uint8_t judge_request(struct oriel_job *job, const struct device *device, const struct handshake *data,
                             struct peer **peer)
{
	if (goodbye_has_begun(&job->goodbye))
		return REJECT_LEFT;
	if (requested_peer(job, device, data->rank, peer))
		return REJECT_STRANGER;
	return request_wins(*peer) && ((*peer)->conn || make_conn(*peer)) ? REJECT_NOT : REJECT_BUSY;
}

static void requested(struct oriel_job *job, const struct device *device, struct rdma_cm_id *id,
                      const struct handshake *data)
{
	bool stranger =
		!data || (data->rank & ~HANDSHAKE_ATOMICS) >= (uint32_t)job->size || data->rank == (uint32_t)job->rank;
	struct peer *peer;
	uint8_t reason = stranger ? REJECT_STRANGER : judge_request(job, device, data, &peer);

	if (reason == REJECT_NOT)
		accept_request(peer, device, id, data);
	else
		reject(device->functions, id, reason);
}

/* Returns the peer's shortage as an errno value; ENFILE: it does not say. */
static int shortage_there(uint8_t reason)
{
	if (reason == REJECT_MEMORY)
		return ENOMEM;
	return reason == REJECT_SHORT ? EMFILE : ENFILE;
}

static void rejected(struct peer *peer, int status, uint8_t reason)
{
	uint64_t limit_ms;

	if (reason == REJECT_LEFT) {
		peer_left(peer);
		free_conn(peer);
		return;
	}
	if (reason == REJECT_SHORT || reason == REJECT_MEMORY || status == CM_NO_RESOURCES) {
		retry_error(peer, "rejected by the peer", -shortage_there(reason));
		return;
	}
	if (reason != REJECT_BUSY) {
		retry(peer, "rejected by the peer", status);
		peer->conn->refused = status != CM_NO_LISTENER;
		return;
	}
	limit_ms = (uint64_t)peer_connect_limit_ms(peer);
	drop_id(peer);
	enter(peer, CONN_YIELD, limit_ms ? limit_ms : YIELD_MS);
}

static void disconnected(struct peer *peer)
{
	if (peer->disconnected)
		return;
	peer->disconnected = true;
	if (!device_maps_memory(peer->device)) /* softverbs has answered */
		functions_of(peer)->disconnect(peer->id);
	peer_lost(peer, device_maps_memory(peer->device) ? "the connection was closed from its side"
	                                                 : "the connection was closed from its side, or by the network");
	wire_break(&peer->wire);
}

static void peer_event(struct peer *peer, enum rdma_cm_event_type type, int status, const struct handshake *answer,
                       uint8_t reason)
{
	struct conn *conn = peer->conn;

	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (functions_of(peer)->resolve_route(conn->id, RESOLVE_TIMEOUT_MS * (int)job_timeout_scale(peer->job)))
			retry_error(peer, "rdma_resolve_route", errno);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		connect_request(peer);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (conn->state == CONN_CONNECT)
			answered(peer, answer);
		else
			established(peer);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		retry_error(peer, functions_of(peer)->event_str(type), status < 0 ? -status : status);
		break;
	case RDMA_CM_EVENT_REJECTED:
		rejected(peer, status, reason);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		retry(peer, functions_of(peer)->event_str(type), status);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
	case RDMA_CM_EVENT_ADDR_CHANGE:      /* bonding only: an asynchronous event follows if it matters */
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:    /* Oriel never reuses identifiers */
	case RDMA_CM_EVENT_CONNECT_REQUEST:  /* handled in dispatch */
	case RDMA_CM_EVENT_CONNECT_RESPONSE: /* only without a queue pair of their own */
	case RDMA_CM_EVENT_MULTICAST_JOIN:   /* datagrams only */
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		break;
	}
}

static void dispatch(struct oriel_job *job, const struct device *device, const struct rdma_cm_event *event,
                     const struct handshake *data, uint8_t reason)
{
	struct rdma_cm_id *id = event->id;
	struct peer *peer = id->context;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		requested(job, device, id, data);
	else if (peer && peer->conn && peer->conn->id == id)
		peer_event(peer, event->event, event->status, data, reason);
	else if (peer && peer->id == id && event->event == RDMA_CM_EVENT_DISCONNECTED)
		disconnected(peer);
}

/* Returns the key that the private data must prove; NULL: they are not needed. */
static const uint8_t *expected_key(const struct oriel_job *job, const struct rdma_cm_event *event)
{
	const struct peer *peer = event->id->context;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return job->endpoint.key;
	return peer && peer->conn && peer->conn->id == event->id ? peer->conn->endpoint.key : NULL;
}

static bool decode_event(const struct oriel_job *job, const struct rdma_cm_event *event, struct handshake *data)
{
	enum handshake_direction direction =
		event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? HANDSHAKE_REQUEST : HANDSHAKE_ANSWER;
	const uint8_t *key = expected_key(job, event);

	return key && handshake_decode(data, event->param.conn.private_data, event->param.conn.private_data_len, direction,
	                               (uint32_t)job->rank, key);
}

void conn_event(struct oriel_job *job, const struct device *device, struct rdma_cm_event *event)
{
	const uint8_t *bytes = event->param.conn.private_data;
	const struct rdma_cm_event kept = *event;
	struct handshake data;
	bool proven = decode_event(job, event, &data);
	uint8_t reason = 0;

	if (event->event == RDMA_CM_EVENT_REJECTED && bytes && event->param.conn.private_data_len > 0)
		reason = bytes[0];
	device->functions->ack_cm_event(event); /* first: destroying an identifier waits for it */
	dispatch(job, device, &kept, proven ? &data : NULL, reason);
}

/* Time limits. */

/* Returns whether the step takes too long, and another attempt may help. */
static bool is_overdue(const struct peer *peer, uint64_t now)
{
	return now >= peer->conn->step_ns && !device_maps_memory(peer->device);
}

static void tick_state(struct peer *peer, uint64_t now)
{
	struct conn *conn = peer->conn;

	switch (conn->state) {
	case CONN_QUEUED:
		begin_attempt(peer);
		break;
	case CONN_BACKOFF:
	case CONN_YIELD:
		if (now >= conn->step_ns)
			begin_attempt(peer);
		break;
	case CONN_RESOLVE:
	case CONN_CONNECT:
		if (is_overdue(peer, now))
			retry(peer, "no answer in time", 0);
		break;
	case CONN_ADDRESS:
	case CONN_ACCEPTED:
		break;
	}
}

/* Returns whether the peer has written that its side is established. Pairs with report_up. */
static bool peer_reported_up(const struct peer *peer)
{
	return peer->conn->state == CONN_ACCEPTED && flag_load(&peer->area->up) == peer->conn->peer_attempt;
}

/*
 * Returns whether the deadline has passed. None holds while queued, or while the peer may be
 * starting.
 */
static bool too_late(const struct conn *conn, uint64_t now)
{
	return now >= conn->deadline_ns && conn->state != CONN_ADDRESS && conn->state != CONN_QUEUED;
}

/*
 * Returns whether this rank is leaving, and the other side cannot wait for the attempt: then no
 * limit means a death.
 */
static bool is_pointless(const struct peer *peer, uint64_t now)
{
	const struct conn *conn = peer->conn;
	bool known_there = conn->state == CONN_CONNECT || conn->state == CONN_ACCEPTED;

	return goodbye_has_begun(&peer->job->goodbye) && (!known_there || now >= conn->step_ns || too_late(conn, now));
}

bool conn_is_timed(const struct peer *peer)
{
	return peer->conn && peer->conn->state != CONN_ADDRESS;
}

static void forget_attempt(struct peer *peer)
{
	free_conn(peer);
	peer_set_state(peer, PEER_NEW);
}

bool conn_tick(struct peer *peer, uint64_t now)
{
	if (!peer->conn)
		return false;
	if (peer_reported_up(peer))
		established(peer);
	else if (is_pointless(peer, now))
		forget_attempt(peer);
	else if (too_late(peer->conn, now))
		give_up(peer, now);
	else
		tick_state(peer, now);
	return peer->conn;
}

static void let_go(struct peer *peer)
{
	if (peer->conn)
		free_conn(peer);
	if (peer->id && !peer->disconnected)
		functions_of(peer)->disconnect(peer->id);
	peer->disconnected = true;
}

void conn_drop(struct peer *peer)
{
	wire_break(&peer->wire);
	let_go(peer);
}

void connections_close(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at)) {
		/* softverbs disconnects in rdma_destroy_id, without the timers of rdma_disconnect. */
		peer->disconnected |= device_maps_memory(peer->device);
		let_go(peer);
	}
}

struct ibv_qp *conn_queue_pair(const struct peer *peer)
{
	const struct rdma_cm_id *id = peer->id ? peer->id : peer->conn ? peer->conn->id : NULL;

	return id ? id->qp : NULL;
}

static void release(struct peer *peer)
{
	if (peer->conn)
		free_conn(peer);
	if (!peer->id)
		return;
	wire_drop_pair(peer->device, peer->id, &peer->pair);
	functions_of(peer)->destroy_id(peer->id);
	peer->id = NULL;
}

void connections_release(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		release(peer);
}
