// SPDX-License-Identifier: BSD-2-Clause
/* mail.c - see mail.h. */
#include "job/mail.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "job/job.h"
#include "base/order.h"
#include "job/peer.h"
#include "job/service_queue.h"
#include "job/wait.h"

#define HALF_RING (MAIL_RING / 2)

struct kept_mail {
	struct kept_mail *next;
	int from;
	struct mail mail;
};

/*
 * The word the peer writes every half ring. It may have gone on by two steps since we looked; a
 * torn reading is none of the two values we accept, since their lowest bytes differ from those of
 * the values between.
 */
static void look_at_consumed(struct peer *peer)
{
	uint64_t consumed = flag_load(&peer->area->mail_consumed); /* pairs with acknowledge at the peer */

	if (consumed == peer->mail_acked + HALF_RING || consumed == peer->mail_acked + MAIL_RING)
		peer->mail_acked = consumed;
}

/* The number of a mail that there is room for, or 0. */
static uint64_t claim(struct peer *peer)
{
	uint64_t number = 0;

	pthread_mutex_lock(&peer->mail_lock);
	look_at_consumed(peer);
	if (peer->mail_sent - peer->mail_acked < MAIL_RING)
		number = ++peer->mail_sent;
	pthread_mutex_unlock(&peer->mail_lock);
	return number;
}

static int write_mail(struct peer *peer, const struct mail *mail, uint64_t number)
{
	uint64_t at = peer->remote_area.addr + offsetof(struct area, mail) + (number - 1) % MAIL_RING * sizeof(*mail);
	struct remote contents = { at, peer->remote_area.rkey };
	struct remote stamp = { at + offsetof(struct mail, stamp), peer->remote_area.rkey };
	uint64_t unused;
	int rc = wire_put(&peer->wire, mail, 0, offsetof(struct mail, stamp), contents, &unused);

	if (rc == 0 && peer->wire.flag_mode == FLAG_WAIT && !wire_wait(&peer->wire, wire_signal(&peer->wire)))
		rc = peer_error(peer->job, peer->rank);
	if (rc)
		return rc;
	/* Pairs with the flag_load in next_mail at the peer. */
	return wire_flag(&peer->wire, number > MAIL_RING ? number - MAIL_RING : 0, number, stamp, &unused);
}

struct sending {
	struct peer *peer;
	uint64_t number; /* of the mail, once there is room */
};

/* The peer must be connected, and have room. */
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
	wait_watch(wait, ((struct sending *)arg)->peer);
	return 0;
}

int mail_send(struct peer *peer, struct mail *mail, struct wait *wait)
{
	static const struct waiter waiter = { send_step, send_watch };
	struct sending sending = { .peer = peer };
	int rc;

	if (state_load(&peer->state) == PEER_NEW)
		service_queue_request(peer);
	rc = wait_until(wait, &waiter, &sending);
	return rc ? rc : write_mail(peer, mail, sending.number);
}

/* Tell the writer what is free, half a ring at a time. The caller holds mail_lock. */
static void acknowledge(struct peer *peer)
{
	uint64_t unused;

	while (peer->mail_taken - peer->mail_told >= HALF_RING && state_load(&peer->state) == PEER_UP) {
		/* Known only now that the peer is up. */
		struct remote word = { peer->remote_area.addr + offsetof(struct area, mail_consumed), peer->remote_area.rkey };

		/* Pairs with look_at_consumed at the peer. */
		wire_flag(&peer->wire, peer->mail_told, peer->mail_told + HALF_RING, word, &unused);
		peer->mail_told += HALF_RING;
	}
}

static bool keep_mail(struct oriel_job *job, struct kept_mail *kept)
{
	bool room;

	pthread_mutex_lock(&job->mailbox.lock);
	room = job->mailbox.count < KEPT_MAILS_MAX;
	if (room) {
		kept->next = job->mailbox.kept;
		job->mailbox.kept = kept;
		job->mailbox.count++;
	}
	pthread_mutex_unlock(&job->mailbox.lock);
	return room;
}

/*
 * One mail from ring to list; false when there is none, or no place for it. The caller holds
 * mail_lock of the peer.
 */
static bool next_mail(struct peer *peer)
{
	const struct mail *mail = &peer->area->mail[peer->mail_taken % MAIL_RING];
	struct kept_mail *kept;

	if (flag_load(&mail->stamp) != peer->mail_taken + 1) /* pairs with write_mail's flag */
		return false;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return false;
	kept->from = peer->rank;
	kept->mail = *mail;
	if (!keep_mail(peer->job, kept)) {
		free(kept);
		return false;
	}
	peer->mail_taken++;
	return true;
}

static void drain(struct peer *peer)
{
	pthread_mutex_lock(&peer->mail_lock);
	while (next_mail(peer))
		;
	acknowledge(peer);
	pthread_mutex_unlock(&peer->mail_lock);
}

void mail_drain_all(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		drain(peer);
}

static struct kept_mail *unlink_kept(struct oriel_job *job, int from, const uint8_t id[16], uint32_t round)
{
	for (struct kept_mail **at = &job->mailbox.kept; *at; at = &(*at)->next) {
		struct kept_mail *kept = *at;

		if (kept->from != from || kept->mail.round != round || memcmp(kept->mail.id, id, 16) != 0)
			continue;
		*at = kept->next;
		job->mailbox.count--;
		return kept;
	}
	return NULL;
}

bool mail_take(struct peer *peer, const uint8_t id[16], uint32_t round, struct mail *mail)
{
	struct kept_mail *kept;

	drain(peer);
	pthread_mutex_lock(&peer->job->mailbox.lock);
	kept = unlink_kept(peer->job, peer->rank, id, round);
	pthread_mutex_unlock(&peer->job->mailbox.lock);
	if (!kept)
		return false;
	*mail = kept->mail;
	free(kept);
	return true;
}

void kept_mails_drop(struct oriel_job *job, const uint8_t id[16])
{
	struct kept_mail **at = &job->mailbox.kept;

	pthread_mutex_lock(&job->mailbox.lock);
	while (*at) {
		struct kept_mail *kept = *at;

		if (id && memcmp(kept->mail.id, id, 16) != 0) {
			at = &kept->next;
			continue;
		}
		*at = kept->next;
		job->mailbox.count--;
		free(kept);
	}
	pthread_mutex_unlock(&job->mailbox.lock);
}
