// SPDX-License-Identifier: BSD-2-Clause
/* See service_queue.h. */
#include "job/service_queue.h"

#include <stddef.h>

#include "job/job.h"
#include "base/util.h"
#include "job/peer.h"

#define CONTACT_NS \
	(50 * NS_PER_MS) /* others are assumed to connect for so long after this rank does; longer when oversubscribed */

void service_queue_set_wake(struct oriel_job *job, void (*wake)(void *arg), void *arg)
{
	pthread_mutex_lock(&job->lock);
	job->service_queue.wake = wake;
	job->service_queue.wake_arg = arg;
	pthread_mutex_unlock(&job->lock);
}

/* The caller holds job->lock, so that the thread cannot end meanwhile. */
static void wake_locked(struct service_queue *service_queue)
{
	if (service_queue->wake)
		service_queue->wake(service_queue->wake_arg);
}

void service_queue_request(struct peer *peer)
{
	struct service_queue *service_queue = &peer->job->service_queue;

	pthread_mutex_lock(&peer->job->lock);
	if (!peer->requested) {
		peer->requested = true;
		peer->next_request = service_queue->requests;
		service_queue->requests = peer;
	}
	wake_locked(service_queue);
	pthread_mutex_unlock(&peer->job->lock);
}

void service_queue_add(struct oriel_job *job, struct task *task)
{
	struct task **at = &job->service_queue.tasks;

	task->next = NULL;
	pthread_mutex_lock(&job->lock);
	while (*at)
		at = &(*at)->next;
	*at = task;
	wake_locked(&job->service_queue);
	pthread_mutex_unlock(&job->lock);
}

struct peer *service_queue_next_request(struct oriel_job *job)
{
	struct peer *peer;

	pthread_mutex_lock(&job->lock);
	peer = job->service_queue.requests;
	if (peer) {
		job->service_queue.requests = peer->next_request;
		peer->requested = false;
	}
	pthread_mutex_unlock(&job->lock);
	return peer;
}

static struct task *next_task(struct oriel_job *job, uint64_t now)
{
	struct task **at = &job->service_queue.tasks, *task;

	pthread_mutex_lock(&job->lock);
	while (*at && (*at)->when_ns > now)
		at = &(*at)->next;
	task = *at;
	if (task)
		*at = task->next;
	pthread_mutex_unlock(&job->lock);
	return task;
}

bool service_queue_run_tasks(struct oriel_job *job, uint64_t now)
{
	struct task *task;
	bool left;

	while ((task = next_task(job, now)) != NULL)
		task->run(task->arg);
	pthread_mutex_lock(&job->lock);
	left = job->service_queue.tasks;
	pthread_mutex_unlock(&job->lock);
	return left;
}

void service_queue_keep(struct peer *peer)
{
	if (peer->busy)
		return;
	peer->busy = true;
	peer->next_busy = peer->job->service_queue.busy;
	peer->job->service_queue.busy = peer;
}

void service_queue_watch(struct peer *peer)
{
	peer->job->service_queue.fresh |= !peer->busy;
	service_queue_keep(peer);
}

struct peer *service_queue_begin_round(struct oriel_job *job, bool *fresh)
{
	struct peer *round = job->service_queue.busy;

	*fresh = job->service_queue.fresh;
	job->service_queue.fresh = false;
	job->service_queue.busy = NULL;
	return round;
}

struct peer *service_queue_next(struct peer **round)
{
	struct peer *peer = *round;

	if (!peer)
		return NULL;
	*round = peer->next_busy;
	peer->busy = false; /* those still in the round stay busy: watching them changes nothing */
	return peer;
}

/* Stores a hint, which orders nothing. */
void service_queue_tell_contacts(struct oriel_job *job, uint64_t now)
{
	struct service_queue *service_queue = &job->service_queue;

	if (service_queue->busy)
		__atomic_store_n(&service_queue->contact_ns, UINT64_MAX, __ATOMIC_RELAXED);
	else if (service_queue->contact_ns == UINT64_MAX)
		__atomic_store_n(&service_queue->contact_ns, now + CONTACT_NS * job_timeout_scale(job), __ATOMIC_RELAXED);
}

bool service_queue_may_connect(const struct oriel_job *job)
{
	return job->service_queue.connecting < CONNECTS_MAX;
}

void service_queue_connecting(struct oriel_job *job, int change)
{
	job->service_queue.connecting += change;
}
