// SPDX-License-Identifier: BSD-2-Clause
/* See ctrl_msg.h. */
#include "conn/ctrl_msg.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "job/job.h"
#include "base/order.h"
#include "job/peer.h"
#include "job/service_queue.h"
#include "sync/wait.h"

#define HALF_RING (CTRL_MSG_RING / 2)

struct unexpected_msg {
	struct unexpected_msg *next;
	int from;
	struct ctrl_msg msg;
};

/*
 * Reads the count that the peer writes every half ring, which may have advanced twice. A torn
 * reading equals neither accepted value: the lowest bytes differ.
 */
static void look_at_consumed(struct peer *peer)
{
	uint64_t consumed = flag_load(&peer->area->ctrl_msg_consumed); /* pairs with acknowledge at the peer */

	if (consumed == peer->ctrl_msg_acked + HALF_RING || consumed == peer->ctrl_msg_acked + CTRL_MSG_RING)
		peer->ctrl_msg_acked = consumed;
}

/* Returns a message's number; 0: no room. */
static uint64_t claim(struct peer *peer)
{
	uint64_t number = 0;

	pthread_mutex_lock(&peer->ctrl_msg_lock);
	look_at_consumed(peer);
	if (peer->ctrl_msg_sent - peer->ctrl_msg_acked < CTRL_MSG_RING)
		number = ++peer->ctrl_msg_sent;
	pthread_mutex_unlock(&peer->ctrl_msg_lock);
	return number;
}

static int write_ctrl_msg(struct peer *peer, const struct ctrl_msg *msg, uint64_t number)
{
	uint64_t at =
		peer->remote_area.addr + offsetof(struct area, ctrl_msgs) + (number - 1) % CTRL_MSG_RING * sizeof(*msg);
	struct remote contents = { at, peer->remote_area.rkey };
	struct remote stamp = { at + offsetof(struct ctrl_msg, stamp), peer->remote_area.rkey };
	uint64_t unused;
	int rc = wire_put(&peer->wire, wire_sge(msg, offsetof(struct ctrl_msg, stamp), 0), contents, &unused);

	if (rc == 0 && peer->wire.flag_mode == FLAG_WAIT && !wire_wait(&peer->wire, wire_signal(&peer->wire)))
		rc = peer_error(peer->job, peer->rank);
	if (rc)
		return rc;
	/* Pairs with the flag_load in next_ctrl_msg at the peer. */
	return wire_flag(&peer->wire, number > CTRL_MSG_RING ? number - CTRL_MSG_RING : 0, number, stamp, &unused);
}

struct sending {
	struct peer *peer;
	uint64_t number; /* 0: no room yet */
};

static int send_step(void *arg)
{
	struct sending *sending = arg;
	uint32_t state = state_load(&sending->peer->state); /* pairs with peer_set_state */

	if (state == PEER_DEAD)
		return peer_error(sending->peer->job, sending->peer->rank);
	if (state == PEER_UP)
		sending->number = claim(sending->peer);
	return sending->number > 0;
}

static int send_watch(void *arg, struct wait *wait)
{
	struct peer *peer = ((struct sending *)arg)->peer;

	wait_blocked(wait, peer_is_up(peer) ? CAUSE_COLLECTIVE : CAUSE_SETUP);
	wait_watch(wait, peer);
	return 0;
}

int ctrl_msg_send(struct peer *peer, struct ctrl_msg *msg, struct wait *wait)
{
	static const struct waiter waiter = { send_step, send_watch };
	struct sending sending = { .peer = peer };
	int rc;

	if (state_load(&peer->state) == PEER_NEW)
		service_queue_request(peer);
	rc = wait_until(wait, &waiter, &sending);
	return rc ? rc : write_ctrl_msg(peer, msg, sending.number);
}

/* Writes the count of taken messages to the writer, every half ring, under ctrl_msg_lock. */
static void acknowledge(struct peer *peer)
{
	uint64_t unused;

	while (peer->ctrl_msg_taken - peer->ctrl_msg_ack_sent >= HALF_RING && state_load(&peer->state) == PEER_UP) {
		/* valid now that the peer is up */
		struct remote word = { peer->remote_area.addr + offsetof(struct area, ctrl_msg_consumed),
			                   peer->remote_area.rkey };

		/* Pairs with look_at_consumed at the peer. */
		wire_flag(&peer->wire, peer->ctrl_msg_ack_sent, peer->ctrl_msg_ack_sent + HALF_RING, word, &unused);
		peer->ctrl_msg_ack_sent += HALF_RING;
	}
}

static bool keep_unexpected(struct oriel_job *job, struct unexpected_msg *unexpected)
{
	bool room;

	pthread_mutex_lock(&job->unexpected.lock);
	room = job->unexpected.count < UNEXPECTED_MSGS_MAX;
	if (room) {
		unexpected->next = job->unexpected.list;
		job->unexpected.list = unexpected;
		job->unexpected.count++;
	}
	pthread_mutex_unlock(&job->unexpected.lock);
	return room;
}

/* Moves one message from ring to list, under ctrl_msg_lock; false: there is none, or no room. */
static bool next_ctrl_msg(struct peer *peer)
{
	const struct ctrl_msg *msg = &peer->area->ctrl_msgs[peer->ctrl_msg_taken % CTRL_MSG_RING];
	struct unexpected_msg *unexpected;

	if (flag_load(&msg->stamp) != peer->ctrl_msg_taken + 1) /* pairs with write_ctrl_msg's flag */
		return false;
	unexpected = malloc(sizeof(*unexpected));
	if (!unexpected)
		return false;
	unexpected->from = peer->rank;
	unexpected->msg = *msg;
	if (!keep_unexpected(peer->job, unexpected)) {
		free(unexpected);
		return false;
	}
	peer->ctrl_msg_taken++;
	return true;
}

static void drain(struct peer *peer)
{
	pthread_mutex_lock(&peer->ctrl_msg_lock);
	while (next_ctrl_msg(peer))
		;
	acknowledge(peer);
	pthread_mutex_unlock(&peer->ctrl_msg_lock);
}

void ctrl_msg_drain_all(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		drain(peer);
}

static struct unexpected_msg *unlink_unexpected(struct oriel_job *job, int from, const uint8_t id[16], uint32_t round)
{
	for (struct unexpected_msg **at = &job->unexpected.list; *at; at = &(*at)->next) {
		struct unexpected_msg *unexpected = *at;

		if (unexpected->from != from || unexpected->msg.round != round || memcmp(unexpected->msg.id, id, 16) != 0)
			continue;
		*at = unexpected->next;
		job->unexpected.count--;
		return unexpected;
	}
	return NULL;
}

bool ctrl_msg_take(struct peer *peer, const uint8_t id[16], uint32_t round, struct ctrl_msg *msg)
{
	struct unexpected_msg *unexpected;

	drain(peer);
	pthread_mutex_lock(&peer->job->unexpected.lock);
	unexpected = unlink_unexpected(peer->job, peer->rank, id, round);
	pthread_mutex_unlock(&peer->job->unexpected.lock);
	if (!unexpected)
		return false;
	*msg = unexpected->msg;
	free(unexpected);
	return true;
}

void unexpected_msgs_drop(struct oriel_job *job, const uint8_t id[16])
{
	struct unexpected_msg **at = &job->unexpected.list;

	pthread_mutex_lock(&job->unexpected.lock);
	while (*at) {
		struct unexpected_msg *unexpected = *at;

		if (id && memcmp(unexpected->msg.id, id, 16) != 0) {
			at = &unexpected->next;
			continue;
		}
		*at = unexpected->next;
		job->unexpected.count--;
		free(unexpected);
	}
	pthread_mutex_unlock(&job->unexpected.lock);
}
