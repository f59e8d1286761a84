// SPDX-License-Identifier: BSD-2-Clause
/* See coll.h. */
#include "conn/coll.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/dissemination.h"
#include "base/err.h"
#include "base/order.h"
#include "job/group.h"
#include "job/job.h"
#include "conn/ctrl_msg.h"
#include "job/peer.h"
#include "job/service_queue.h"
#include "base/util.h"
#include "sync/wait.h"

void coll_id(uint8_t id[16], const uint8_t key[16], uint64_t number, enum coll_kind kind)
{
	uint8_t input[32];
	uint64_t tail[2] = { number, (uint64_t)kind };

	memcpy(input, key, 16);
	memcpy(input + 16, tail, 16);
	crypto_generichash(id, 16, input, sizeof(input), NULL, 0);
}

void coll_id_within(uint8_t id[16], const uint8_t hash[16], uint64_t number, enum coll_kind kind)
{
	uint64_t words[2];

	memcpy(words, hash, 16);
	words[0] ^= number;
	words[1] ^= (uint64_t)kind;
	memcpy(id, words, 16);
}

void coll_begin(struct coll *coll, const struct oriel_group *group, const uint8_t id[16], int code, int culprit)
{
	memset(coll, 0, sizeof(*coll));
	coll->job = group->job;
	coll->group = group;
	memcpy(coll->id, id, 16);
	coll->code = code;
	coll->culprit = culprit;
	coll->barrier.rounds = log2_up((uint64_t)group->size);
}

/* A dead or unreachable member ends the waiting. */
static bool is_loss(int code)
{
	return code == ORIEL_ERR_PEER || code == ORIEL_ERR_ROUTE;
}

/*
 * Returns whether the code replaces the verdict: the first error counts, but a death overrides all
 * others, and a missing route the rest.
 */
static bool overrides(int code, int known)
{
	return !known || (is_loss(code) && !is_loss(known)) || (code == ORIEL_ERR_PEER && known == ORIEL_ERR_ROUTE);
}

static void vote(struct coll *coll, int code, int culprit)
{
	if (!code || !overrides(code, coll->code))
		return;
	coll->code = code;
	coll->culprit = culprit;
}

static void vote_loss(struct coll *coll, int rank)
{
	vote(coll, rank_has_no_route(coll->job, rank) ? ORIEL_ERR_ROUTE : ORIEL_ERR_PEER, rank);
}

static void vote_send_failed(struct coll *coll, int rc, const struct peer *to)
{
	if (rc == ORIEL_ERR_PEER)
		vote_loss(coll, to->rank);
	else
		vote(coll, rc, coll->job->rank);
}

#define WITHDRAWN 0x10000 /* added to the round: withdraws its vote */
#define WITHDRAW_MS 250

static int place_back(const struct coll *coll, int distance)
{
	return (coll->group->my_rank + coll->group->size - distance) % coll->group->size;
}

static int partner_of(const struct coll *coll, int round, int direction, struct peer **peer)
{
	const struct oriel_group *group = coll->group;
	int rank = coll->gathers ? place_back(coll, -direction * (1 << round))
	                         : dissemination_partner(group->size, group->my_rank, round, direction);

	return peer_get(coll->job, group_world_rank(group, rank), peer);
}

/* direction: 1 or -1. */
static int partner(const struct coll *coll, int direction, struct peer **peer)
{
	return partner_of(coll, coll->barrier.round, direction, peer);
}

static void take_payload(struct coll *coll, const uint64_t payload[2])
{
	if (!coll->combines) {
		if (payload[0] || payload[1])
			memcpy(coll->payload, payload, sizeof(coll->payload));
		return;
	}
	if (payload[0] > coll->payload[0])
		coll->payload[0] = payload[0];
	coll->payload[1] |= payload[1];
}

static bool take_vote(struct coll *coll, struct peer *from, int round)
{
	struct ctrl_msg msg;
	bool taken = ctrl_msg_take(from, coll->id, (uint32_t)round, &msg);

	if (!taken)
		return false;
	vote(coll, msg.code, msg.culprit);
	if (msg.agreed != coll->agreed)
		vote(coll, ORIEL_ERR_ARG, from->rank);
	take_payload(coll, msg.payload);
	return true;
}

struct run {
	struct coll *coll;
	struct wait *wait;
	struct peer *from; /* the present round's sender */
	/* It had left at the last check, and its message has not come since. */
	bool from_left;
};

static int send_round(void *arg)
{
	struct run *run = arg;
	struct coll *coll = run->coll;
	struct ctrl_msg msg = { .round = (uint32_t)coll->barrier.round, .code = coll->code, .culprit = coll->culprit };
	struct peer *to;
	int rc = partner(coll, 1, &to);

	memcpy(msg.id, coll->id, sizeof(msg.id));
	msg.agreed = coll->agreed;
	memcpy(msg.payload, coll->payload, sizeof(msg.payload));
	if (rc == 0) {
		rc = ctrl_msg_send(to, &msg, run->wait);
		if (wait_can_repeat(rc))
			return rc;
	}
	vote_send_failed(coll, rc, to);
	return 0;
}

/* Returns 1 once this round's message has arrived, or a death ends the wait. */
static int receive_step(void *arg)
{
	struct run *run = arg;
	struct coll *coll = run->coll;
	int round = coll->barrier.round;

	if (take_vote(coll, run->from, round) || take_vote(coll, run->from, round + WITHDRAWN)) {
		wait_moved(run->wait);
		return 1;
	}
	wait_serve(coll->job, run->from);
	return is_loss(coll->code);
}

/*
 * A death of any member means that messages will never come. A member that has left in order counts
 * only if its message is missing.
 */
static int receive_watch(void *arg, struct wait *wait)
{
	struct run *run = arg;
	struct coll *coll = run->coll;
	bool left = !wait_watch(wait, run->from) || peer_said_goodbye(run->from);
	int dead = job_dead_member(coll->job, coll->group);

	wait_blocked(wait, CAUSE_COLLECTIVE);
	if (dead == ORIEL_RANK_NONE && left && run->from_left)
		dead = run->from->rank;
	run->from_left = left;
	if (dead == ORIEL_RANK_NONE && coll->has_gone && coll->has_gone(coll->has_gone_arg, run->from->rank, wait))
		dead = run->from->rank;
	if (dead != ORIEL_RANK_NONE)
		vote_loss(coll, dead);
	return 0;
}

static int receive_round(void *arg)
{
	static const struct waiter waiter = { receive_step, receive_watch };
	struct run *run = arg;
	int rc = partner(run->coll, -1, &run->from);

	run->from_left = false;
	if (rc == 0)
		return wait_until(run->wait, &waiter, run);
	vote(run->coll, rc, run->coll->job->rank);
	return 0;
}

static int verdict(const struct coll *coll)
{
	if (coll->code == ORIEL_ERR_ROUTE && !rank_is_dead(coll->job, coll->culprit, NULL))
		return err_set_route("rank %d cannot be reached by another member of the group", coll->culprit);
	if (is_loss(coll->code))
		return peer_error(coll->job, coll->culprit);
	if (coll->code && coll->culprit != coll->job->rank)
		return err_set(coll->code, "rank %d could not take part: %s", coll->culprit, err_meaning(coll->code));
	return coll->code;
}

/* Connects to later rounds' partners, so that all connect at once; of a pair, the lower rank. */
static void connect_ahead(const struct coll *coll)
{
	struct peer *to, *from;

	for (int round = 1; round < coll->barrier.rounds; round++) {
		if (partner_of(coll, round, 1, &to) || partner_of(coll, round, -1, &from) ||
		    (to == from && to->rank < coll->job->rank))
			continue;
		if (state_load(&to->state) == PEER_NEW) /* pairs with peer_set_state */
			service_queue_request(to);
	}
}

static int run_rounds(struct coll *coll, struct wait *wait)
{
	struct run run = { .coll = coll, .wait = wait };
	int dead = job_dead_member(coll->job, coll->group);

	if (dead != ORIEL_RANK_NONE)
		vote_loss(coll, dead);
	connect_ahead(coll);
	return dissemination_run(&coll->barrier, send_round, receive_round, &run);
}

int coll_run(struct coll *coll, struct wait *wait)
{
	int rc = run_rounds(coll, wait);

	if (rc)
		return rc;
	unexpected_msgs_drop(coll->job, coll->id);
	return verdict(coll);
}

/*
 * Returns whether a member has withdrawn a vote that was counted; the verdict is then that
 * member's.
 */
static bool is_withdrawn(struct coll *coll)
{
	struct peer *from;

	for (int round = 0; round < coll->barrier.rounds; round++) {
		if (partner_of(coll, round, -1, &from) == 0)
			take_vote(coll, from, round + WITHDRAWN);
	}
	return coll->code;
}

/* Withdraws this rank's votes at connected members. */
static void withdraw(struct coll *coll)
{
	struct ctrl_msg msg = { .code = coll->code, .culprit = coll->culprit, .agreed = coll->agreed };
	struct wait wait;
	struct peer *to;

	memcpy(msg.id, coll->id, sizeof(msg.id));
	wait_begin(&wait, coll->job, "", NULL);
	wait.limit_ms = WITHDRAW_MS;
	for (int round = 0; round < coll->barrier.rounds; round++) {
		msg.round = (uint32_t)round + WITHDRAWN;
		if (partner_of(coll, round, 1, &to) == 0 && state_load(&to->state) == PEER_UP) /* pairs with peer_set_state */
			ctrl_msg_send(to, &msg, &wait);
	}
}

int coll_run_once(struct coll *coll, struct wait *wait)
{
	int rc = run_rounds(coll, wait);
	char text[ERR_TEXT_BYTES];

	snprintf(text, sizeof(text), "%s", err_text());
	if (rc)
		vote(coll, rc, coll->job->rank);
	if (rc || (coll->code == 0 && is_withdrawn(coll)))
		withdraw(coll);
	unexpected_msgs_drop(coll->job, coll->id);
	return rc ? err_set(rc, "%s", text) : verdict(coll);
}

/*
 * In round r of a gathering a rank sends the items of up to 2^r ranks, the last being itself, one a
 * message. A message's number is the distance to the rank whose item it carries.
 */
struct gathering {
	struct run run;
	struct coll_item *items;
	int distance; /* to the rank whose item is awaited */
	bool late;    /* the time limit has passed */
};

static int items_of(const struct coll *coll, int round)
{
	int most = 1 << round, left = coll->group->size - most;

	return most < left ? most : left;
}

static void send_item(struct gathering *gathering, struct peer *to, int back)
{
	struct coll *coll = gathering->run.coll;
	struct ctrl_msg msg = { .code = coll->code, .culprit = coll->culprit };
	int rc;

	msg.round = (uint32_t)((1 << coll->barrier.round) + back);
	memcpy(msg.id, coll->id, sizeof(msg.id));
	if (gathering->items)
		memcpy(msg.item, gathering->items[place_back(coll, back)].word, sizeof(msg.item));
	rc = ctrl_msg_send(to, &msg, gathering->run.wait);
	vote_send_failed(coll, rc, to);
}

static int send_items(void *arg)
{
	struct gathering *gathering = arg;
	struct coll *coll = gathering->run.coll;
	struct peer *to;
	int rc = partner(coll, 1, &to);

	if (rc)
		vote(coll, rc, coll->job->rank);
	for (int back = 0; rc == 0 && back < items_of(coll, coll->barrier.round); back++)
		send_item(gathering, to, back);
	return 0;
}

static int item_step(void *arg)
{
	struct gathering *gathering = arg;
	struct coll *coll = gathering->run.coll;
	struct ctrl_msg msg;

	if (ctrl_msg_take(gathering->run.from, coll->id, (uint32_t)gathering->distance, &msg)) {
		vote(coll, msg.code, msg.culprit);
		if (gathering->items)
			memcpy(gathering->items[place_back(coll, gathering->distance)].word, msg.item, sizeof(msg.item));
		wait_moved(gathering->run.wait);
		return 1;
	}
	wait_serve(coll->job, gathering->run.from);
	return is_loss(coll->code) || gathering->late;
}

static int item_watch(void *arg, struct wait *wait)
{
	return receive_watch(&((struct gathering *)arg)->run, wait);
}

static int receive_items(void *arg)
{
	static const struct waiter waiter = { item_step, item_watch };
	struct gathering *gathering = arg;
	struct coll *coll = gathering->run.coll;
	int first = 1 << coll->barrier.round, rc = partner(coll, -1, &gathering->run.from);

	gathering->run.from_left = false;
	for (int i = 0; rc == 0 && i < items_of(coll, coll->barrier.round); i++) {
		gathering->distance = first + i;
		rc = wait_until(gathering->run.wait, &waiter, gathering);
	}
	gathering->late |= rc != 0;
	vote(coll, rc, coll->job->rank);
	return 0;
}

int coll_gather(struct coll *coll, struct coll_item items[], struct wait *wait)
{
	struct gathering gathering = { .run = { .coll = coll, .wait = wait }, .items = items };

	coll->gathers = true;
	connect_ahead(coll);
	dissemination_run(&coll->barrier, send_items, receive_items, &gathering);
	unexpected_msgs_drop(coll->job, coll->id);
	return verdict(coll);
}
