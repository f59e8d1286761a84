// SPDX-License-Identifier: BSD-2-Clause
/* coll.c - see coll.h. */
#include "job/coll.h"

#include <sodium.h>
#include <string.h>

#include "base/err.h"
#include "job/group.h"
#include "job/job.h"
#include "job/mail.h"
#include "job/peer.h"
#include "base/util.h"
#include "job/wait.h"

void coll_id(uint8_t id[16], const uint8_t key[16], uint64_t number, enum coll_kind kind)
{
	uint8_t input[32];
	uint64_t tail[2] = { number, (uint64_t)kind };

	memcpy(input, key, 16);
	memcpy(input + 16, tail, 16);
	crypto_generichash(id, 16, input, sizeof(input), NULL, 0);
}

void coll_begin(struct coll *coll, struct oriel_job *job, const struct oriel_group *group, const uint8_t id[16],
                int code, int culprit)
{
	memset(coll, 0, sizeof(*coll));
	coll->job = job;
	coll->group = group;
	memcpy(coll->id, id, 16);
	coll->code = code;
	coll->culprit = culprit;
}

static void vote(struct coll *coll, int code, int culprit)
{
	if (!code || coll->code == ORIEL_ERR_PEER || (coll->code && code != ORIEL_ERR_PEER))
		return; /* the first error counts, but a death above all: it ends the waiting */
	coll->code = code;
	coll->culprit = culprit;
}

/* The peer 2^round places further in the group, or back. */
static int partner(const struct coll *coll, int direction, struct peer **peer)
{
	int size = coll->group->size;
	int distance = (1 << coll->round) % size;
	int rank = (coll->group->my_rank + (direction > 0 ? distance : size - distance)) % size;

	return peer_get(coll->job, group_world_rank(coll->group, rank), peer);
}

static int send_round(struct coll *coll, struct wait *wait)
{
	struct mail mail = { .round = (uint32_t)coll->round, .code = coll->code, .culprit = coll->culprit };
	struct peer *to;
	int rc = partner(coll, 1, &to);

	memcpy(mail.id, coll->id, sizeof(mail.id));
	if (rc == 0)
		rc = mail_send(to, &mail, wait);
	if (rc == ORIEL_ERR_TIMEOUT)
		return rc;
	if (rc)
		vote(coll, rc, rc == ORIEL_ERR_PEER ? to->rank : coll->job->rank);
	coll->sent = true;
	return 0;
}

/*
 * While waiting for `from`: it or any other member may be dead, whose mail will then never come,
 * here or further up.
 */
static void look_for_dead(struct coll *coll, struct peer *from, struct wait *wait)
{
	int dead;

	wait_watch(wait, from);
	mail_drain_all(coll->job);
	wait_looked(wait);
	dead = job_dead_member(coll->job, coll->group);
	if (dead == ORIEL_RANK_NONE && coll->has_gone && coll->has_gone(coll->has_gone_arg, from->rank, wait))
		dead = from->rank;
	if (dead != ORIEL_RANK_NONE)
		vote(coll, ORIEL_ERR_PEER, dead);
}

static int receive_round(struct coll *coll, struct wait *wait)
{
	struct mail mail;
	struct peer *from;
	int rc = partner(coll, -1, &from);

	if (rc) {
		vote(coll, rc, coll->job->rank);
		return 0;
	}
	while (!mail_take(from, coll->id, (uint32_t)coll->round, &mail)) {
		if (coll->code == ORIEL_ERR_PEER)
			return 0;
		rc = wait_pause(wait);
		if (rc < 0)
			return rc;
		if (rc == WAIT_LOOK)
			look_for_dead(coll, from, wait);
	}
	vote(coll, mail.code, mail.culprit);
	wait_moved(wait);
	return 0;
}

static int verdict(const struct coll *coll)
{
	if (coll->code == ORIEL_ERR_PEER)
		return peer_error(coll->job, coll->culprit);
	if (coll->code && coll->culprit != coll->job->rank)
		return err_set(coll->code, "rank %d could not take part: %s", coll->culprit, oriel_strerror(coll->code));
	return coll->code;
}

int coll_run(struct coll *coll, struct wait *wait)
{
	int rounds = log2_up((uint64_t)coll->group->size);

	for (; coll->round < rounds; coll->round++, coll->sent = false) {
		int rc = coll->sent ? 0 : send_round(coll, wait);

		if (rc == 0)
			rc = receive_round(coll, wait);
		if (rc)
			return rc;
	}
	kept_mails_drop(coll->job, coll->id);
	return verdict(coll);
}
