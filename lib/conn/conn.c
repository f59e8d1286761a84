// SPDX-License-Identifier: BSD-2-Clause
/*
 * conn.c - one RC connection for each pair of ranks that communicate, made with rdma_cm
 *
 * DESIGN NOTES
 *
 * Active side (attempt.c): CONN_QUEUED (too many attempts) -> CONN_ADDRESS (the bootstrap is asked
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
 * A bit of the request's rank selects the second connection to a rank (atomics_peer.h).
 *
 * In oriel_finalize (goodbye.h) no attempt starts, and requests are rejected. An attempt in
 * CONN_CONNECT or CONN_ACCEPTED, of which the other side may know, continues and is not repeated.
 */
#include "conn/conn.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/process.h"
#include "base/settings.h"
#include "base/util.h"
#include "conn/atomics_peer.h"
#include "conn/attempt.h"
#include "conn/goodbye.h"
#include "job/job.h"
#include "job/peer.h"
#include "job/service_queue.h"
#include "pages/shortage.h"
#include "verbs/handshake.h"

#define YIELD_MS 4000     /* for the other side's request, if connecting has no time limit */
#define CM_NO_RESOURCES 3 /* a reject's status: the peer's CM is short of resources */
#define CM_NO_LISTENER 8  /* a status without a listener: the rank may have ended */

/* First byte of a reject's private data. */
enum reject_reason {
	REJECT_STRANGER, /* no proof of the key, or no memory */
	REJECT_BUSY,     /* the rank's own request is in progress */
	REJECT_SHORT,    /* no descriptors */
	REJECT_LEFT,     /* the rank has left the job */
	REJECT_MEMORY,
	REJECT_NOT, /* never sent */
};

void conn_want(struct peer *peer)
{
	if (state_load(&peer->state) == PEER_NEW && !goodbye_has_begun(&peer->job->goodbye) && attempt_make(peer))
		attempt_begin(peer);
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
	attempt_free(peer);
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
		attempt_retry(peer, "the answer does not prove the key", 0);
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
		attempt_functions(peer)->reject(peer->conn->id, &reason, sizeof(reason));
	attempt_retry_error(peer, what, error);
}

static void accept_request(struct peer *peer, const struct device *device, struct rdma_cm_id *id,
                           const struct handshake *data)
{
	struct conn *conn = peer->conn;
	uint8_t bytes[HANDSHAKE_BYTES];
	struct rdma_conn_param param;

	attempt_drop_id(peer);
	peer_set_device(peer, device); /* the device that the peer's rank has chosen */
	conn->id = id;
	conn->peer_attempt = data->attempt;
	attempt_set_deadline(peer);
	id->context = peer;
	remember_remote(peer, data);
	flag_store(&peer->area->up, 0); /* before the answer lets the peer write it */
	param = attempt_param(peer, data->attempt, HANDSHAKE_ANSWER, bytes);
	attempt_enter(peer, CONN_ACCEPTED, attempt_limit_ms(peer) * 2);
	if (attempt_make_pair(peer))
		refuse(peer, err_text(), errno);
	else if (attempt_functions(peer)->accept(id, &param))
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
	return request_wins(*peer) && ((*peer)->conn || attempt_make(*peer)) ? REJECT_NOT : REJECT_BUSY;
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
		attempt_free(peer);
		return;
	}
	if (reason == REJECT_SHORT || reason == REJECT_MEMORY || status == CM_NO_RESOURCES) {
		attempt_retry_error(peer, "rejected by the peer", -shortage_there(reason));
		return;
	}
	if (reason != REJECT_BUSY) {
		attempt_retry(peer, "rejected by the peer", status);
		peer->conn->refused = status != CM_NO_LISTENER;
		return;
	}
	limit_ms = (uint64_t)peer_connect_limit_ms(peer);
	attempt_drop_id(peer);
	attempt_enter(peer, CONN_YIELD, limit_ms ? limit_ms : YIELD_MS);
}

static void disconnected(struct peer *peer)
{
	if (peer->disconnected)
		return;
	peer->disconnected = true;
	if (!device_maps_memory(peer->device)) /* softverbs has answered */
		attempt_functions(peer)->disconnect(peer->id);
	wire_poll(&peer->wire); /* a request that has failed here says more */
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
		if (attempt_functions(peer)->resolve_route(conn->id, RESOLVE_TIMEOUT_MS * (int)job_timeout_scale(peer->job)))
			attempt_retry_error(peer, "rdma_resolve_route", errno);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		attempt_request(peer);
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
		attempt_retry_error(peer, attempt_functions(peer)->event_str(type), status < 0 ? -status : status);
		break;
	case RDMA_CM_EVENT_REJECTED:
		rejected(peer, status, reason);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		attempt_retry(peer, attempt_functions(peer)->event_str(type), status);
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
		attempt_begin(peer);
		break;
	case CONN_BACKOFF:
	case CONN_YIELD:
		if (now >= conn->step_ns)
			attempt_begin(peer);
		break;
	case CONN_RESOLVE:
	case CONN_CONNECT:
		if (is_overdue(peer, now))
			attempt_retry(peer, "no answer in time", 0);
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
	attempt_free(peer);
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
		attempt_give_up(peer, now);
	else
		tick_state(peer, now);
	return peer->conn;
}

static void let_go(struct peer *peer)
{
	if (peer->conn)
		attempt_free(peer);
	if (peer->id && !peer->disconnected)
		attempt_functions(peer)->disconnect(peer->id);
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
		attempt_free(peer);
	if (!peer->id)
		return;
	wire_drop_pair(peer->device, peer->id, &peer->pair);
	attempt_functions(peer)->destroy_id(peer->id);
	peer->id = NULL;
}

void connections_release(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		release(peer);
}
