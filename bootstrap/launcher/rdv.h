// SPDX-License-Identifier: BSD-2-Clause
/*
 * rdv.h - the rendezvous: the meaning of the ranks' messages
 *
 * It knows which ranks are in the job, answers puts and gets, and reports deaths. It has no sockets
 * or processes: the server reports messages and ended processes to it, and rdv_events sends.
 *
 * ASSUMPTIONS: ranks are in range; the event functions do not call back into the rendezvous.
 */
#ifndef ORIEL_LAUNCHER_RDV_H
#define ORIEL_LAUNCHER_RDV_H

#include <stdbool.h>

#include "wire/proto.h"

struct rdv;

struct rdv_events {
	/* Send to a rank that has joined. */
	void (*send)(void *arg, int rank, const struct proto_msg *msg);
	/* Welcome a rank. Called by rdv_join, or later for a rank that was held. */
	void (*admit)(void *arg, int rank);
	/* A rank asks for the end of the job. */
	void (*abort)(void *arg, int rank, int status, const char *reason);
};

enum rdv_answer {
	RDV_ADMITTED,
	RDV_HELD,    /* until the others have left the previous program; admit follows */
	RDV_REFUSED, /* *why has the reason */
};

/* Returns NULL if memory is short. */
struct rdv *rdv_create(int size, const struct rdv_events *events, void *arg);
void rdv_destroy(struct rdv *rdv);

/* Handles a rank that has proven itself and asks to join. */
enum rdv_answer rdv_join(struct rdv *rdv, int rank, const char **why);

enum rdv_result {
	RDV_HANDLED,
	RDV_NONSENSE, /* no rank may send it */
	RDV_FULL,     /* the key-value store is at a bound, or without memory */
};

/*
 * Handles a message of a rank that has joined. Unless it returns RDV_HANDLED, the rank's connection
 * is to be closed.
 */
enum rdv_result rdv_message(struct rdv *rdv, int rank, const struct proto_msg *msg);

/* Returns whether the rank has joined, and neither left nor ended. */
bool rdv_is_inside(const struct rdv *rdv, int rank);

/* Returns whether the rank's process has ended in order. */
bool rdv_has_gone(const struct rdv *rdv, int rank);

/*
 * Returns whether its process may end without harm to the others: not while inside, nor after it
 * was cut off inside.
 */
bool rdv_may_end(const struct rdv *rdv, int rank);

/* Handles a held rank that has gone away. */
void rdv_unhold(struct rdv *rdv, int rank);

/* Handles a connection that ends before leave; the process may live. The others get text. */
void rdv_lost(struct rdv *rdv, int rank, const char *text);

/* Handles the end of a process, or one that will never start. failed: its status is not 0. */
void rdv_ended(struct rdv *rdv, int rank, bool failed, const char *text);

#endif
