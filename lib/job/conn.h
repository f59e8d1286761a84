// SPDX-License-Identifier: BSD-2-Clause
/*
 * conn.h - making and ending connections; everything here belongs to the service thread
 */
#ifndef ORIEL_CONN_H
#define ORIEL_CONN_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oriel_job;
struct peer;
struct device;

/* Begin to connect, unless that is under way or done. */
void conn_want(struct peer *peer);

/* What the peer has put into the bootstrap (endpoint.h) has come; NULL: it ended without putting it. */
void conn_endpoint(struct peer *peer, const void *value, size_t size_bytes);

/* One event of a device's channel. The event is acknowledged here. */
void conn_event(struct oriel_job *job, const struct device *device, struct rdma_cm_event *event);

/*
 * What time brings: attempts that are due or late, half-open connections. Returns whether the peer
 * still needs it.
 */
bool conn_tick(struct peer *peer, uint64_t now);

/*
 * Whether time can bring anything: not to one that waits for the address of a rank that may not
 * have started yet.
 */
bool conn_is_timed(const struct peer *peer);

/* The peer is dead: give up connecting, or tell it that this side has let go. */
void conn_drop(struct peer *peer);

/* Close all connections in order at the end of the job. */
void connections_close(struct oriel_job *job);

/* Release all identifiers and queue pairs; the service thread has ended. */
void connections_release(struct oriel_job *job);

/* Service thread: the peer's queue pair, established or nearly so; NULL if there is none. */
struct ibv_qp *conn_queue_pair(const struct peer *peer);

#endif
