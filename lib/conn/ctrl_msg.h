// SPDX-License-Identifier: BSD-2-Clause
/*
 * ctrl_msg.h - small messages between two ranks, for collectives without a window's flags
 *
 * DESIGN NOTES
 *
 * Each side of a connection has a ring of messages in its area, which the neighbour writes: the
 * contents, then, as a flag, the stamp, which is the message's number. A thread that waits in a
 * collective takes messages in order, each by the stamp expected next, and puts them into the job's
 * list of unexpected messages until their collective takes them. Flow control: every half ring the
 * reader writes to the writer's area how many it has taken.
 *
 * A rank is at most one collective ahead of another on the same list of members, so a ring is not
 * full for long. With more threads in collectives than places in the ring, the writer waits.
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
	struct unexpected_msg *list; /* taken from the rings, not yet asked for */
	uint32_t count;
};

/*
 * Waits for the connection and for room, and sends a message. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_TIMEOUT (nothing sent).
 */
int ctrl_msg_send(struct peer *peer, struct ctrl_msg *msg, struct wait *wait);

/* Takes that message of that peer, if it has arrived. */
bool ctrl_msg_take(struct peer *peer, const uint8_t id[16], uint32_t round, struct ctrl_msg *msg);

/* Empties all rings, so that no writer waits for this rank. */
void ctrl_msg_drain_all(struct oriel_job *job);

/* Drops the unexpected messages of a collective that has ended, or (NULL) all. */
void unexpected_msgs_drop(struct oriel_job *job, const uint8_t id[16]);

#endif
