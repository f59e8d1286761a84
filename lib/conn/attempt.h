// SPDX-License-Identifier: BSD-2-Clause
/*
 * attempt.h - attempts to connect to a peer, whose states conn.c describes
 *
 * The service thread alone calls these functions.
 */
#ifndef ORIEL_ATTEMPT_H
#define ORIEL_ATTEMPT_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conn/endpoint.h"
#include "job/peer.h"
#include "verbs/device.h"
#include "verbs/handshake.h"
#include "verbs/wire.h"

#define RESOLVE_TIMEOUT_MS 1000
#define LAST_TEXT_BYTES 96

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

static inline const struct verbs_functions *attempt_functions(const struct peer *peer)
{
	return peer->device->functions;
}

/* Makes peer->conn. Returns false if memory lacks; the peer then counts as dead. */
bool attempt_make(struct peer *peer);

void attempt_free(struct peer *peer);

void attempt_begin(struct peer *peer);

/* Sends the request. */
void attempt_request(struct peer *peer);

void attempt_drop_id(struct peer *peer);

void attempt_enter(struct peer *peer, enum conn_state state, uint64_t limit_ms);

/*
 * Drops the failed attempt and schedules the next, with jitter so that two sides do not collide for
 * ever. The caller must return.
 */
void attempt_retry(struct peer *peer, const char *what, int status);

/* Calls attempt_retry for an errno value, negative if the peer's. */
void attempt_retry_error(struct peer *peer, const char *what, int error);

/* Declares the peer dead, or unreachable if it refuses. Frees peer->conn. */
void attempt_give_up(struct peer *peer, uint64_t now);

void attempt_set_deadline(struct peer *peer);
uint64_t attempt_limit_ms(const struct peer *peer);

int attempt_make_pair(struct peer *peer);

struct rdma_conn_param attempt_param(const struct peer *peer, uint32_t attempt, enum handshake_direction direction,
                                     uint8_t bytes[HANDSHAKE_BYTES]);

#endif
