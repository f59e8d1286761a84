// SPDX-License-Identifier: BSD-2-Clause
/*
 * ctrl_msg.h - small messages between two ranks, for collectives that cannot use a window's own
 * flags
 *
 * DESIGN NOTES
 *
 * Each side of a connection has a ring of CTRL_MSG_RING messages in its area, which the neighbour
 * writes: contents first, then, as a flag behind them, the stamp, which is the message's number.
 * The reader waits for exactly the stamp it expects next and takes messages out of the ring in
 * order, whenever a thread of it waits in a collective, into the job's list of unexpected messages,
 * where they stay until the thread asks for them that they are for. Every half ring it tells the
 * writer, in the writer's area.
 *
 * A rank is at most one collective ahead of another on the same list of members, so a ring is never
 * full for long, but with more collectives in different threads at once than it has places the
 * writer waits.
 */
#ifndef ORIEL_CTRL_MSG_H
#define ORIEL_CTRL_MSG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "verbs/layout.h"

struct oriel_job;
struct peer;
struct wait;
struct unexpected_msg;

#define UNEXPECTED_MSGS_MAX 65536

struct unexpected_msgs {
	pthread_mutex_t lock;        /* guards the rest */
	struct unexpected_msg *list; /* messages taken from the rings that nobody has asked for yet */
	uint32_t count;
};

/*
 * Send a message; waits for the connection and for room. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT
 * (nothing sent).
 */
int ctrl_msg_send(struct peer *peer, struct ctrl_msg *msg, struct wait *wait);

/* The message of that collective and round from that peer, if it has come. Never blocks. */
bool ctrl_msg_take(struct peer *peer, const uint8_t id[16], uint32_t round, struct ctrl_msg *msg);

/* Take messages out of the rings of all peers, so that none of them waits for us. */
void ctrl_msg_drain_all(struct oriel_job *job);

/* Forget the unexpected messages of a collective that has failed, or (NULL) all. */
void unexpected_msgs_drop(struct oriel_job *job, const uint8_t id[16]);

#endif
