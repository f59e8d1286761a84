// SPDX-License-Identifier: BSD-2-Clause
/*
 * conn.h - routes to peers, and connections; the service thread alone calls the functions of conn.c
 */
#ifndef ORIEL_CONN_H
#define ORIEL_CONN_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/endpoint.h"

struct device;
struct oriel_job;
struct peer;

/* Starts to connect, unless an attempt is in progress or the connection is up. */
void conn_want(struct peer *peer);

/* Takes the endpoint (endpoint.h) from the bootstrap; NULL: the peer ended without one. */
void conn_endpoint(struct peer *peer, const void *value, size_t size_bytes);

/* Handles one event of a device's channel, and acknowledges it. */
void conn_event(struct oriel_job *job, const struct device *device, struct rdma_cm_event *event);

/*
 * Starts attempts that are due, and ends late or half-open ones. Returns whether the peer needs
 * more ticks.
 */
bool conn_tick(struct peer *peer, uint64_t now);

/* Returns false while the peer's rank may not have started yet: ticks do not help. */
bool conn_is_timed(const struct peer *peer);

/* Gives up connecting, or disconnects. */
void conn_drop(struct peer *peer);

void connections_close(struct oriel_job *job);

/* The service thread has ended. */
void connections_release(struct oriel_job *job);

/* Returns the peer's queue pair, established or nearly so, or NULL. */
struct ibv_qp *conn_queue_pair(const struct peer *peer);

/*
 * endpoint.c: the device by which two ranks communicate, a pure function of both endpoints
 *
 * Both sides compute it before any message. Ranks that can share memory use it, the others their
 * cards. Ranks that disagree on how words are changed (ORIEL_ATOMICS) do not connect: concurrent
 * changes would be lost.
 */

enum route {
	ROUTE_SOFT,
	ROUTE_CARD,
	ROUTE_NONE,
};

#define ROUTE_WHY_BYTES 256

/* Returns the route. With ROUTE_NONE, `why` explains it of the other rank, with remedies. */
enum route route_choose(const struct endpoint *own, const struct endpoint *other, char why[ROUTE_WHY_BYTES]);

#endif
