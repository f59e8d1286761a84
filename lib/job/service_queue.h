// SPDX-License-Identifier: BSD-2-Clause
/*
 * service_queue.h - work for the service thread, and the only interface to it from below
 *
 * DESIGN NOTES
 *
 * Any code can queue work without knowing the thread or its loop, which lie above: a *request*
 * names a peer to serve, a *task* is a function to call. Both are lists, guarded by job->lock,
 * followed by a wakeup. Folders above this one (windows, operations, epochs) reach the thread by
 * tasks only; tests/tree counts their uses.
 *
 * *Busy* peers have something under way that time or the completion queue advances. They and the
 * count of connection attempts belong to the service thread alone.
 */
#ifndef ORIEL_SERVICE_QUEUE_H
#define ORIEL_SERVICE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_job;
struct peer;

#define CONNECTS_MAX 32 /* this rank's attempts in progress */

/* A function to call on the service thread. Its owner keeps the struct alive until it has run. */
struct task {
	void (*run)(void *arg);
	void *arg;
	uint64_t when_ns; /* earliest time; 0: at once */
	struct task *next;
};

struct service_queue {
	/* Guarded by job->lock. */
	struct peer *requests;
	struct task *tasks;
	void (*wake)(void *arg); /* the service thread's; NULL while there is none */
	void *wake_arg;
	/* Service thread only. */
	struct peer *busy;
	bool fresh; /* a peer has become busy since service_queue_begin_round */
	int connecting;
	/*
	 * Written by the service thread. UINT64_MAX while a peer is busy; else until when others may
	 * be, see service_queue_in_contact.
	 */
	uint64_t contact_ns;
};

/* Sets the function that wakes the thread (NULL: it has ended). */
void service_queue_set_wake(struct oriel_job *job, void (*wake)(void *arg), void *arg);

/*
 * Queues a peer to be connected, to have its descriptions read, or, when dead, to be dropped. Any
 * thread.
 */
void service_queue_request(struct peer *peer);

/* Queues a task. Any thread. */
void service_queue_add(struct oriel_job *job, struct task *task);

/* Returns the next requested peer, or NULL. Service thread. */
struct peer *service_queue_next_request(struct oriel_job *job);

/* Runs the tasks that are due. Returns whether some are left for later. Service thread. */
bool service_queue_run_tasks(struct oriel_job *job, uint64_t now);

/* Serves the peer in every round, as long as it has work in progress. Service thread. */
void service_queue_watch(struct peer *peer);

/*
 * A round: service_queue_begin_round takes all busy peers (*fresh: some are new),
 * service_queue_next takes one out of the round (NULL at the end), service_queue_keep returns one
 * that needs another round. Service thread.
 */
struct peer *service_queue_begin_round(struct oriel_job *job, bool *fresh);
struct peer *service_queue_next(struct peer **round);
void service_queue_keep(struct peer *peer);

/*
 * Publishes whether peers are busy, for waiting threads. Service thread. Pairs with
 * service_queue_in_contact.
 */
void service_queue_tell_contacts(struct oriel_job *job, uint64_t now);

/*
 * Returns whether this rank is connecting, or was a moment ago, when the ranks that it waits for
 * probably still are. Other threads than the waiting ones do that work. Any thread.
 */
static inline bool service_queue_in_contact(const struct service_queue *service_queue, uint64_t now)
{
	return now < __atomic_load_n(&service_queue->contact_ns, __ATOMIC_RELAXED);
}

/* Bounds and counts this rank's attempts to connect. Service thread. */
bool service_queue_may_connect(const struct oriel_job *job);
void service_queue_connecting(struct oriel_job *job, int change);

#endif
