// SPDX-License-Identifier: BSD-2-Clause
/*
 * dissemination.h - a barrier in log2 p rounds
 *
 * In round r a member sends to the one 2^r places after it and waits for the one 2^r places before
 * it; whoever has done all rounds has heard, through others, from everybody. What is sent, a word
 * or a message, is the caller's.
 */
#ifndef ORIEL_DISSEMINATION_H
#define ORIEL_DISSEMINATION_H

#include <stdbool.h>

/* The member that `rank` of `size` sends to in a round, or (direction < 0) hears from. */
static inline int dissemination_partner(int size, int rank, int round, int direction)
{
	int distance = (1 << round) % size;

	return (rank + (direction > 0 ? distance : size - distance)) % size;
}

/* How far a barrier has come; it can be interrupted and gone on with. */
struct dissemination {
	int rounds; /* log2_up(size) */
	int round;  /* the present one */
	bool sent;  /* this round's message */
};

/*
 * Go on with the rounds. send and receive give 0, or what ends the run: a round whose send has
 * succeeded does not send again when the run is repeated.
 */
static inline int dissemination_run(struct dissemination *d, int (*send)(void *arg), int (*receive)(void *arg),
                                    void *arg)
{
	for (; d->round < d->rounds; d->round++, d->sent = false) {
		int rc = d->sent ? 0 : send(arg);

		if (rc)
			return rc;
		d->sent = true;
		rc = receive(arg);
		if (rc)
			return rc;
	}
	return 0;
}

#endif
