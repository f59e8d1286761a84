// SPDX-License-Identifier: BSD-2-Clause
/*
 * service_queue.h - what the service thread is to look at, and the one way up to it
 *
 * DESIGN NOTES
 *
 * Anybody may ask for attention without knowing the thread or its loop, which lie above: a *request*
 * names a peer to look at, a *task* is a function to call. Both are lists, guarded by job->lock,
 * followed by a wake-up. Folders above this one (windows, operations, epochs) reach the thread by
 * tasks only; tests/tree counts who does.
 *
 * *Busy* peers have something under way that time or the completion queue brings on; they and the
 * count of connection attempts belong to the service thread alone.
 */
#ifndef ORIEL_SERVICE_QUEUE_H
#define ORIEL_SERVICE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_job;
struct peer;

#define CONNECTS_MAX 32 /* attempts of this rank under way at once */

/* A function to call on the service thread. Its owner keeps the struct alive until it has run. */
struct task {
	void (*run)(void *arg);
	void *arg;
	uint64_t when_ns; /* not before; 0: at once */
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
	 * Written by it. UINT64_MAX while a peer is busy; else until when others may be, see
	 * service_queue_in_contact.
	 */
	uint64_t contact_ns;
};

/* From now on requests wake the thread (NULL: there is none any more). */
void service_queue_set_wake(struct oriel_job *job, void (*wake)(void *arg), void *arg);

/* Ask for a look at a peer: connect, read descriptions, drop it when dead. Any thread. */
void service_queue_request(struct peer *peer);

/* Have a task run. Any thread. */
void service_queue_add(struct oriel_job *job, struct task *task);

/* Service thread: the next requested peer, or NULL. */
struct peer *service_queue_next_request(struct oriel_job *job);

/* Service thread: run the tasks that are due. Whether some are left for later. */
bool service_queue_run_tasks(struct oriel_job *job, uint64_t now);

/* Service thread: the peer has something under way, and is looked at until it has not. */
void service_queue_watch(struct peer *peer);

/*
 * Service thread: a round of looks. service_queue_begin_round takes all busy peers, and says
 * whether some are new; service_queue_next takes one out of the round, NULL at the end; one that
 * needs another look is given back with service_queue_keep.
 */
struct peer *service_queue_begin_round(struct oriel_job *job, bool *fresh);
struct peer *service_queue_next(struct peer **round);
void service_queue_keep(struct peer *peer);

/*
 * Service thread: what it has just looked at is told to those who wait. Pairs with
 * service_queue_in_contact.
 */
void service_queue_tell_contacts(struct oriel_job *job, uint64_t now);

/*
 * Any thread: whether this rank is making contact with others, or was a moment ago, when whom it
 * waits for is likely to be at it still. That is work for other threads than those who wait.
 */
static inline bool service_queue_in_contact(const struct service_queue *service_queue, uint64_t now)
{
	return now < __atomic_load_n(&service_queue->contact_ns, __ATOMIC_RELAXED);
}

/* Service thread: connections being attempted by this rank now; bounds them. */
bool service_queue_may_connect(const struct oriel_job *job);
void service_queue_connecting(struct oriel_job *job, int change);

#endif
