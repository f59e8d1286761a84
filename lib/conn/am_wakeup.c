// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_wakeup.c - the service thread's part in active messages: wakeups, rings, polls; see am_recv.h
 */
#include "base/util.h"
#include "conn/conn.h"
#include "job/job.h"
#include "job/peer.h"
#include "am/am_recv.h"
#include "verbs/wire.h"

#define TAIL_NS (50 * UINT64_C(1000)) /* the service thread polls for so long after a message */
#define TAIL_MOST_NS (1 * NS_PER_MS)  /* then it returns to its loop */
#define LATER_NS (1 * NS_PER_MS)
#define LOOKS_AFTER 12 /* a completion may lag its event */

/* Returns whether the peer's next wakeup has a receive; posts one. */
static bool has_receive(struct peer *peer)
{
	struct ibv_qp *qp = conn_queue_pair(peer);

	if (peer->am_bare && qp)
		peer->am_bare = !wakeup_receive(qp, (uint64_t)peer->rank);
	return !peer->am_bare;
}

/* Gives all peers their wakeups back. Returns false if some must wait; their rings are polled. */
static bool rest_all(struct oriel_job *job)
{
	bool all = true;

	pthread_mutex_lock(&job->am.wakeups);
	for (struct am_receiver *ring = job->am.list; ring; ring = ring->next) {
		if (has_receive(ring->peer))
			am_receiver_rest(ring->peer);
		else
			all &= !peer_is_up(ring->peer);
	}
	pthread_mutex_unlock(&job->am.wakeups);
	return all;
}

/* Answers the first wakeups of peers without a ring. Returns whether some still wait. */
static bool welcome_all(struct oriel_job *job)
{
	bool waiting = false;
	uint32_t at = 0;

	pthread_mutex_lock(&job->am.wakeups);
	for (struct peer *peer = job->am.welcoming ? peer_next(job, &at) : NULL; peer; peer = peer_next(job, &at)) {
		if (!peer->am_waits)
			continue;
		if (peer_is_up(peer) && has_receive(peer)) {
			peer->am_waits = false;
			am_receiver_open(peer);
			am_receiver_rest(peer);
		}
		waiting |= peer->am_waits && state_load(&peer->state) != PEER_DEAD;
	}
	job->am.welcoming = waiting;
	pthread_mutex_unlock(&job->am.wakeups);
	return waiting;
}

static bool take_wakeups(struct oriel_job *job)
{
	bool any;

	/* First: a later completion makes it readable again. */
	for (uint32_t i = 0; i < job->devices.count; i++) {
		if (job->devices.list[i].wakeup)
			wakeup_rearm(job->devices.list[i].wakeup, job->devices.list[i].functions);
	}
	pthread_mutex_lock(&job->am.wakeups);
	am_take_wakeups(job);
	any = job->am.woken;
	job->am.woken = false;
	pthread_mutex_unlock(&job->am.wakeups);
	return any;
}

static void look_later(void *arg);

static void plan(struct oriel_job *job)
{
	struct am_service *am = &job->am;

	if (am->later)
		return;
	am->later = true;
	am->task = (struct task){ .run = look_later, .arg = job, .when_ns = now_ns() + LATER_NS };
	service_queue_add(job, &job->am.task);
}

#define POLLED_OFTEN 4 /* within a millisecond */

/*
 * Returns whether the program's threads poll often. Rare calls of oriel_progress, and
 * oversubscribed threads, which nap, would delay messages.
 */
static bool is_polled(struct oriel_job *job)
{
	uint64_t polled = __atomic_load_n(&job->am.polled, __ATOMIC_RELAXED);
	bool often = polled - job->am.polled_seen >= POLLED_OFTEN;

	job->am.polled_seen = polled;
	return often && !job_oversubscribed(job);
}

/* Polls every millisecond until the rings have been quiet for a while. */
static void look_later(void *arg)
{
	struct oriel_job *job = arg;
	struct am_service *am = &job->am;
	bool again = is_polled(job), woken;

	am->later = false;
	woken = take_wakeups(job);
	if (am_drain_all(am) || woken)
		am->looks = LOOKS_AFTER;
	if (!again) {
		again = !rest_all(job);
		again |= am_drain_all(am) || am->looks-- > 0;
	}
	if (welcome_all(job) || again)
		plan(job);
}

static void spin(struct am_service *am)
{
	uint64_t begun = now_ns(), last = begun, now;

	do {
		if (am_drain_all(am))
			last = now_ns();
		cpu_relax();
		now = now_ns();
	} while (now - last < TAIL_NS && now - begun < TAIL_MOST_NS);
}

static void serve(struct oriel_job *job)
{
	struct am_service *am = &job->am;

	am_drain_all(am);
	welcome_all(job);
	am->looks = LOOKS_AFTER;
	if (!is_polled(job)) {
		if (am->may_spin)
			spin(am);
		rest_all(job);
		am_drain_all(am);
	}
	plan(job);
}

void am_woken(struct oriel_job *job)
{
	if (take_wakeups(job)) {
		serve(job);
		return;
	}
	job->am.looks = LOOKS_AFTER;
	plan(job);
}
