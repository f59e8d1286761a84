// SPDX-License-Identifier: BSD-2-Clause
/*
 * service_queue.h - work for the service thread, and the only interface to it from below
 *
 * DESIGN NOTES
 *
 * A *request* names a peer to serve, a *task* is a function to call. Both are lists, guarded by
 * job->lock, followed by a wakeup. Windows, operations and epochs reach the thread by tasks only;
 * tests/tree counts them.
 *
 * *Busy* peers have something under way that time or the completion queue advances.
 */
#ifndef ORIEL_SERVICE_QUEUE_H
#define ORIEL_SERVICE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_job;
struct peer;

#define CONNECTS_MAX 32 /* this rank's attempts in progress */

/* A function to call on the service thread. Its owner keeps the struct until it has run. */
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
	void (*wake)(void *arg); /* NULL while there is no service thread */
	void *wake_arg;
	/* Service thread only. */
	struct peer *busy;
	bool fresh; /* a peer has become busy since service_queue_begin_round */
	int connecting;
	/* The service thread writes it: UINT64_MAX while a peer is busy, else until others may be. */
	uint64_t contact_ns;
};

/* NULL: the thread has ended. */
void service_queue_set_wake(struct oriel_job *job, void (*wake)(void *arg), void *arg);

/* Queues a peer to be connected, to have its descriptions read, or to be dropped. Any thread. */
void service_queue_request(struct peer *peer);

/* Queues a task. Any thread. */
void service_queue_add(struct oriel_job *job, struct task *task);

/* Returns the next requested peer, or NULL. Service thread. */
struct peer *service_queue_next_request(struct oriel_job *job);

/* Runs due tasks. Returns whether later ones are left. Service thread. */
bool service_queue_run_tasks(struct oriel_job *job, uint64_t now);

/* Serves the peer in every round while it has work. Service thread. */
void service_queue_watch(struct peer *peer);

/*
 * A round: service_queue_begin_round takes all busy peers (*fresh: some are new),
 * service_queue_next takes one out (NULL at the end), service_queue_keep keeps one for another
 * round. Service thread.
 */
struct peer *service_queue_begin_round(struct oriel_job *job, bool *fresh);
struct peer *service_queue_next(struct peer **round);
void service_queue_keep(struct peer *peer);

/* Publishes whether peers are busy. Service thread. Pairs with service_queue_in_contact. */
void service_queue_tell_contacts(struct oriel_job *job, uint64_t now);

/*
 * Returns whether this rank is connecting, or was lately, and ranks that it waits for probably are.
 * Any thread.
 */
static inline bool service_queue_in_contact(const struct service_queue *service_queue, uint64_t now)
{
	return now < __atomic_load_n(&service_queue->contact_ns, __ATOMIC_RELAXED);
}

/* Bound and count this rank's attempts to connect. Service thread. */
bool service_queue_may_connect(const struct oriel_job *job);
void service_queue_connecting(struct oriel_job *job, int change);

#endif
