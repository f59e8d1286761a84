// SPDX-License-Identifier: BSD-2-Clause
/*
 * rdv.h - the rendezvous: what the ranks' messages mean
 *
 * Knows which ranks are in the job, answers puts and gets, tells of deaths.
 * Knows nothing of sockets or processes: the server tells it what arrived, the launcher who ended,
 * and it says through rdv_events what is to be sent.
 *
 * ASSUMPTIONS: ranks are in range; the event functions do not call back into the rendezvous.
 */
#ifndef ORIEL_LAUNCHER_RDV_H
#define ORIEL_LAUNCHER_RDV_H

#include <stdbool.h>

#include "wire/proto.h"

struct rdv;

struct rdv_events {
	/* To a rank that has joined. */
	void (*send)(void *arg, int rank, const struct proto_msg *msg);
	/* The rank joins now: welcome it. Comes out of rdv_join, or later for a rank that was held. */
	void (*admit)(void *arg, int rank);
	/* The rank wants the job to end. */
	void (*abort)(void *arg, int rank, int status, const char *reason);
};

enum rdv_answer {
	RDV_ADMITTED,
	RDV_HELD,    /* until the other ranks have left the program before; admit comes then */
	RDV_REFUSED, /* *why says why */
};

/* NULL if memory is short. */
struct rdv *rdv_create(int size, const struct rdv_events *events, void *arg);
void rdv_destroy(struct rdv *rdv);

/* The rank has proven itself and wants to join. */
enum rdv_answer rdv_join(struct rdv *rdv, int rank, const char **why);

/*
 * A message of a rank that has joined. -1: nothing a rank may send; its connection is not to be
 * trusted further.
 */
int rdv_message(struct rdv *rdv, int rank, const struct proto_msg *msg);

/* Has the rank joined, and neither left nor ended? */
bool rdv_is_inside(const struct rdv *rdv, int rank);

/* May its process end now without harm to the others? Not if it is inside, or was cut off while it was. */
bool rdv_may_end(const struct rdv *rdv, int rank);

/* The rank was told to wait and has gone away instead. */
void rdv_unhold(struct rdv *rdv, int rank);

/* The rank's connection ended although it had not left; its process may live. text tells the others. */
void rdv_lost(struct rdv *rdv, int rank, const char *text);

/* The rank's process has ended, or will never be started. failed: not with status 0. */
void rdv_ended(struct rdv *rdv, int rank, bool failed, const char *text);

#endif
