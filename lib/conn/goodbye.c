// SPDX-License-Identifier: BSD-2-Clause
/* See goodbye.h. */
#include "conn/goodbye.h"

#include <stddef.h>

#include "base/err.h"
#include "job/job.h"
#include "job/peer.h"
#include "sync/wait.h"

void goodbye_say(struct peer *peer)
{
	struct remote word = { peer->remote_area.addr + offsetof(struct area, goodbye), peer->remote_area.rkey };
	uint64_t number;

	/* Pairs with the flag_load in peer_said_goodbye at the peer. */
	if (wire_flag_signalled(&peer->wire, 0, GOODBYE, word, &number) == 0)
		counter_store(&peer->goodbye_number, number); /* pairs with the counter_load in has_parted */
}

/* Step 2. The service thread ends attempts when it next serves their peers. */
static void begin(void *arg)
{
	struct oriel_job *job = arg;
	uint32_t at = 0;

	state_store(&job->goodbye.begun, 1); /* pairs with goodbye_has_begun */
	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at)) {
		if (peer->rank != job->rank && state_load(&peer->state) == PEER_UP)
			goodbye_say(peer);
	}
}

/* Returns whether neither rank owes the other anything. Stays true. */
static bool has_parted(struct peer *peer)
{
	uint32_t state = state_load(&peer->state); /* pairs with peer_set_state and peer_lost */
	uint64_t number = counter_load(&peer->goodbye_number);

	if (peer->rank == peer->job->rank || state == PEER_NEW || state == PEER_DEAD)
		return true;
	return state == PEER_UP && number > 0 && peer_said_goodbye(peer) && wire_drive(&peer->wire, number);
}

/* Step 4: `peer` is the first that this rank has not parted from. */
struct parting {
	struct oriel_job *job;
	struct peer *peer;
	uint32_t at;
};

static int parted_step(void *arg)
{
	struct parting *parting = arg;

	if (!goodbye_has_begun(&parting->job->goodbye))
		return 0;
	if (!parting->peer)
		parting->peer = peer_next(parting->job, &parting->at);
	while (parting->peer && has_parted(parting->peer))
		parting->peer = peer_next(parting->job, &parting->at);
	if (!parting->peer)
		return 1;
	wait_serve(parting->job, parting->peer);
	return 0;
}

static int parted_watch(void *arg, struct wait *wait)
{
	struct oriel_job *job = ((struct parting *)arg)->job;
	uint32_t at = 0;

	if (!goodbye_has_begun(&job->goodbye))
		return 0;
	wait_blocked(wait, CAUSE_COLLECTIVE);
	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at)) {
		if (!has_parted(peer))
			wait_watch(wait, peer);
	}
	return 0;
}

static int timeout_error(const struct parting *parting)
{
	int limit_ms = parting->job->limits.timeout_ms;

	if (!parting->peer)
		return err_set(ORIEL_ERR_TIMEOUT, "not begun within %d ms; call it again", limit_ms);
	return err_set(ORIEL_ERR_TIMEOUT, "rank %d, which is connected, did not come to it within %d ms; call it again",
	               parting->peer->rank, limit_ms);
}

static void ask(struct oriel_job *job)
{
	job->goodbye.task = (struct task){ .run = begin, .arg = job };
	job->goodbye.asked = true;
	service_queue_add(job, &job->goodbye.task);
}

int goodbye_run(struct oriel_job *job)
{
	static const struct waiter waiter = { parted_step, parted_watch };
	struct parting parting = { .job = job };
	struct wait wait;
	int rc;

	if (!job->goodbye.asked)
		ask(job);
	wait_begin(&wait, job, "oriel_finalize", NULL);
	rc = wait_until(&wait, &waiter, &parting);
	return rc == ORIEL_ERR_TIMEOUT ? timeout_error(&parting) : rc;
}
