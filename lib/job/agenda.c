// SPDX-License-Identifier: BSD-2-Clause
/* agenda.c - see agenda.h. */
#include "job/agenda.h"

#include <stddef.h>

#include "job/job.h"
#include "base/util.h"
#include "job/peer.h"

#define CONTACT_NS (50 * NS_PER_MS) /* others are taken to be at it for so long after this rank; longer in a crowd */

void agenda_set_wake(struct oriel_job *job, void (*wake)(void *arg), void *arg)
{
	pthread_mutex_lock(&job->lock);
	job->agenda.wake = wake;
	job->agenda.wake_arg = arg;
	pthread_mutex_unlock(&job->lock);
}

/* The caller holds job->lock, so that the thread cannot go meanwhile. */
static void wake_locked(struct agenda *agenda)
{
	if (agenda->wake)
		agenda->wake(agenda->wake_arg);
}

void agenda_request(struct peer *peer)
{
	struct agenda *agenda = &peer->job->agenda;

	pthread_mutex_lock(&peer->job->lock);
	if (!peer->requested) {
		peer->requested = true;
		peer->next_request = agenda->requests;
		agenda->requests = peer;
	}
	wake_locked(agenda);
	pthread_mutex_unlock(&peer->job->lock);
}

void agenda_hand(struct oriel_job *job, struct task *task)
{
	struct task **at = &job->agenda.tasks;

	task->next = NULL;
	pthread_mutex_lock(&job->lock);
	while (*at)
		at = &(*at)->next;
	*at = task;
	wake_locked(&job->agenda);
	pthread_mutex_unlock(&job->lock);
}

struct peer *agenda_next_request(struct oriel_job *job)
{
	struct peer *peer;

	pthread_mutex_lock(&job->lock);
	peer = job->agenda.requests;
	if (peer) {
		job->agenda.requests = peer->next_request;
		peer->requested = false;
	}
	pthread_mutex_unlock(&job->lock);
	return peer;
}

/* Take a task that is due out of the list, or NULL. */
static struct task *next_task(struct oriel_job *job, uint64_t now)
{
	struct task **at = &job->agenda.tasks, *task;

	pthread_mutex_lock(&job->lock);
	while (*at && (*at)->when_ns > now)
		at = &(*at)->next;
	task = *at;
	if (task)
		*at = task->next;
	pthread_mutex_unlock(&job->lock);
	return task;
}

bool agenda_run_tasks(struct oriel_job *job, uint64_t now)
{
	struct task *task;
	bool left;

	while ((task = next_task(job, now)) != NULL)
		task->run(task->arg);
	pthread_mutex_lock(&job->lock);
	left = job->agenda.tasks;
	pthread_mutex_unlock(&job->lock);
	return left;
}

void agenda_keep(struct peer *peer)
{
	if (peer->busy)
		return;
	peer->busy = true;
	peer->next_busy = peer->job->agenda.busy;
	peer->job->agenda.busy = peer;
}

void agenda_watch(struct peer *peer)
{
	peer->job->agenda.fresh |= !peer->busy;
	agenda_keep(peer);
}

struct peer *agenda_begin_round(struct oriel_job *job, bool *fresh)
{
	struct peer *round = job->agenda.busy;

	*fresh = job->agenda.fresh;
	job->agenda.fresh = false;
	job->agenda.busy = NULL;
	return round;
}

struct peer *agenda_next(struct peer **round)
{
	struct peer *peer = *round;

	if (!peer)
		return NULL;
	*round = peer->next_busy;
	peer->busy = false; /* those still in the round stay busy: to watch them changes nothing */
	return peer;
}

/* A hint, which orders nothing. */
void agenda_tell_contacts(struct oriel_job *job, uint64_t now)
{
	struct agenda *agenda = &job->agenda;

	if (agenda->busy)
		__atomic_store_n(&agenda->contact_ns, UINT64_MAX, __ATOMIC_RELAXED);
	else if (agenda->contact_ns == UINT64_MAX)
		__atomic_store_n(&agenda->contact_ns, now + CONTACT_NS * job_patience(job), __ATOMIC_RELAXED);
}

bool agenda_may_connect(const struct oriel_job *job)
{
	return job->agenda.connecting < CONNECTS_MAX;
}

void agenda_connecting(struct oriel_job *job, int change)
{
	job->agenda.connecting += change;
}
