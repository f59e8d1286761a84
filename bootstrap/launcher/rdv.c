// SPDX-License-Identifier: BSD-2-Clause
/*
 * rdv.c - the rendezvous: the meaning of the ranks' messages; see rdv.h
 *
 * DESIGN NOTES A rank may run several programs in turn that each join and leave (sh -c 'first;
 * second'). An address that the first puts is stale in the second, so their keys must not mix.
 * Therefore a job has rounds. A rank that left and comes back is held until no rank is inside the
 * present round and none can join it. Then all keys are dropped and the next round begins.
 */
#include "launcher/rdv.h"

#include "launcher/kvs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rdv_state {
	RDV_AWAITED, /* its process lives or will start, and has not joined this round */
	RDV_INSIDE,
	RDV_LEFT, /* has left in order; its process lives and may join the next round */
	RDV_DEAD, /* ended or was cut off out of order; the others know */
	RDV_GONE, /* its process ended in order */
};

struct rdv_rank {
	enum rdv_state state;
	bool held;   /* came back while RDV_LEFT; waits for the next round */
	char *death; /* while RDV_DEAD: how it died; NULL if memory was short, sent as "" */
};

struct rdv {
	const struct rdv_events *events;
	void *events_arg;
	struct kvs *kvs;
	int size;
	int open_count; /* ranks that are RDV_AWAITED or RDV_INSIDE */
	int held_count;
	int dead_count;
	struct rdv_rank ranks[];
};

static void answer_get(void *arg, int asker, int rank, const char *key, const void *value, size_t size_bytes)
{
	struct proto_msg msg = { .type = PROTO_VALUE, .rank = (uint32_t)rank, .found = value != NULL };
	struct rdv *rdv = arg;

	if (rdv->ranks[asker].state != RDV_INSIDE)
		return;
	snprintf(msg.key, sizeof(msg.key), "%s", key);
	msg.value_size = (uint8_t)size_bytes;
	if (size_bytes > 0)
		memcpy(msg.value, value, size_bytes);
	rdv->events->send(rdv->events_arg, asker, &msg);
}

struct rdv *rdv_create(int size, const struct rdv_events *events, void *arg)
{
	struct rdv *rdv = calloc(1, sizeof(*rdv) + (size_t)size * sizeof(rdv->ranks[0]));

	if (!rdv)
		return NULL;
	rdv->kvs = kvs_create(size, answer_get, rdv);
	if (!rdv->kvs) {
		free(rdv);
		return NULL;
	}
	rdv->events = events;
	rdv->events_arg = arg;
	rdv->size = size;
	rdv->open_count = size;
	return rdv;
}

void rdv_destroy(struct rdv *rdv)
{
	if (!rdv)
		return;
	for (int rank = 0; rank < rdv->size; rank++)
		free(rdv->ranks[rank].death);
	kvs_destroy(rdv->kvs);
	free(rdv);
}

bool rdv_is_inside(const struct rdv *rdv, int rank)
{
	return rdv->ranks[rank].state == RDV_INSIDE;
}

bool rdv_may_end(const struct rdv *rdv, int rank)
{
	return rdv->ranks[rank].state != RDV_INSIDE && rdv->ranks[rank].state != RDV_DEAD;
}

bool rdv_has_gone(const struct rdv *rdv, int rank)
{
	return rdv->ranks[rank].state == RDV_GONE;
}

/* Joining, and rounds. */

static void tell_death(struct rdv *rdv, int to, int dead)
{
	struct proto_msg msg = { .type = PROTO_DIED, .rank = (uint32_t)dead };

	proto_set_text(&msg, rdv->ranks[dead].death);
	rdv->events->send(rdv->events_arg, to, &msg);
}

static void tell_all_deaths(struct rdv *rdv, int to)
{
	int left = rdv->dead_count;

	for (int rank = 0; left > 0; rank++)
		if (rdv->ranks[rank].state == RDV_DEAD) {
			tell_death(rdv, to, rank);
			left--;
		}
}

static void admit(struct rdv *rdv, int rank)
{
	rdv->ranks[rank].state = RDV_INSIDE;
	rdv->events->admit(rdv->events_arg, rank);
	tell_all_deaths(rdv, rank);
}

/* Lets a rank that left come again. Dead and gone ranks get no keys in this round either. */
static void open_round_for(struct rdv *rdv, int rank)
{
	if (rdv->ranks[rank].state == RDV_LEFT) {
		rdv->ranks[rank].state = RDV_AWAITED;
		rdv->open_count++;
	} else {
		kvs_close(rdv->kvs, rank);
	}
}

static void admit_if_held(struct rdv *rdv, int rank)
{
	if (!rdv->ranks[rank].held)
		return;
	rdv->ranks[rank].held = false;
	rdv->held_count--;
	admit(rdv, rank);
}

static void begin_round_if_due(struct rdv *rdv)
{
	if (rdv->open_count > 0 || rdv->held_count == 0)
		return;
	kvs_reset(rdv->kvs);
	for (int rank = 0; rank < rdv->size; rank++)
		open_round_for(rdv, rank);
	for (int rank = 0; rank < rdv->size; rank++)
		admit_if_held(rdv, rank);
}

static enum rdv_answer hold(struct rdv *rdv, int rank)
{
	rdv->ranks[rank].held = true;
	rdv->held_count++;
	begin_round_if_due(rdv);
	return rdv->ranks[rank].held ? RDV_HELD : RDV_ADMITTED;
}

static enum rdv_answer refuse(const char **why, const char *text)
{
	*why = text;
	return RDV_REFUSED;
}

enum rdv_answer rdv_join(struct rdv *rdv, int rank, const char **why)
{
	switch (rdv->ranks[rank].state) {
	case RDV_AWAITED:
		admit(rdv, rank);
		return RDV_ADMITTED;
	case RDV_LEFT:
		if (!rdv->ranks[rank].held)
			return hold(rdv, rank);
		return refuse(why, "another process of this rank is waiting to join");
	case RDV_INSIDE:
		return refuse(why, "another process of this rank is in the job");
	case RDV_DEAD:
		return refuse(why, "a program of this rank ended without leaving the job, and the other ranks know that");
	case RDV_GONE:
		break;
	}
	return refuse(why, "the process that oriel-run started for this rank has ended");
}

void rdv_unhold(struct rdv *rdv, int rank)
{
	if (!rdv->ranks[rank].held)
		return;
	rdv->ranks[rank].held = false;
	rdv->held_count--;
}

/* Leaving. */

/* Moves a rank from AWAITED or INSIDE to a final state of this round. */
static void close_rank(struct rdv *rdv, int rank, enum rdv_state state)
{
	rdv->ranks[rank].state = state;
	rdv->open_count--;
	kvs_close(rdv->kvs, rank);
}

static void leave(struct rdv *rdv, int rank)
{
	close_rank(rdv, rank, RDV_LEFT);
	begin_round_if_due(rdv);
}

/* Sends the news of the death before the answers that follow from it. */
static void die(struct rdv *rdv, int rank, const char *text)
{
	rdv->ranks[rank].death = strdup(text);
	rdv->dead_count++;
	for (int other = 0; other < rdv->size; other++)
		if (other != rank && rdv->ranks[other].state == RDV_INSIDE)
			tell_death(rdv, other, rank);
	close_rank(rdv, rank, RDV_DEAD);
	begin_round_if_due(rdv);
}

void rdv_lost(struct rdv *rdv, int rank, const char *text)
{
	if (rdv->ranks[rank].state == RDV_INSIDE)
		die(rdv, rank, text);
}

void rdv_ended(struct rdv *rdv, int rank, bool failed, const char *text)
{
	rdv_unhold(rdv, rank);
	switch (rdv->ranks[rank].state) {
	case RDV_INSIDE:
		die(rdv, rank, text);
		break;
	case RDV_AWAITED:
		if (failed) {
			die(rdv, rank, text);
		} else {
			close_rank(rdv, rank, RDV_GONE);
			begin_round_if_due(rdv);
		}
		break;
	case RDV_LEFT:
		rdv->ranks[rank].state = RDV_GONE;
		break;
	case RDV_DEAD:
	case RDV_GONE:
		break;
	}
}

/* Messages. */

static enum rdv_result get(struct rdv *rdv, int asker, const struct proto_msg *msg)
{
	if (msg->rank >= (uint32_t)rdv->size)
		return RDV_NONSENSE;
	return kvs_get(rdv->kvs, asker, (int)msg->rank, msg->key) == 0 ? RDV_HANDLED : RDV_FULL;
}

static enum rdv_result put(struct rdv *rdv, int rank, const struct proto_msg *msg)
{
	return kvs_put(rdv->kvs, rank, msg->key, msg->value, msg->value_size) == 0 ? RDV_HANDLED : RDV_FULL;
}

enum rdv_result rdv_message(struct rdv *rdv, int rank, const struct proto_msg *msg)
{
	if (rdv->ranks[rank].state != RDV_INSIDE)
		return RDV_NONSENSE;
	switch (msg->type) {
	case PROTO_PUT:
		return put(rdv, rank, msg);
	case PROTO_GET:
		return get(rdv, rank, msg);
	case PROTO_LEAVE:
		leave(rdv, rank);
		return RDV_HANDLED;
	case PROTO_ABORT:
		rdv->events->abort(rdv->events_arg, rank, (int)msg->status, msg->text);
		return RDV_HANDLED;
	default:
		return RDV_NONSENSE;
	}
}
