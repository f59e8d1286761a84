// SPDX-License-Identifier: BSD-2-Clause
/*
 * dissemination.h - a barrier in log2 p rounds
 *
 * In round r a member sends to the member 2^r places after it and waits for the member 2^r places
 * before it. After all rounds it has heard, through others, from all. Of 2^n members, the two of a
 * pair send to each other, so that each has half as many partners. The caller decides what is sent.
 */
#ifndef ORIEL_DISSEMINATION_H
#define ORIEL_DISSEMINATION_H

#include <stdbool.h>

/* Returns the member that `rank` sends to in a round, or (direction < 0) receives from. */
static inline int dissemination_partner(int size, int rank, int round, int direction)
{
	int distance = (1 << round) % size;

	if ((size & (size - 1)) == 0)
		return rank ^ distance;
	return (rank + (direction > 0 ? distance : size - distance)) % size;
}

/* A barrier, which can be interrupted and continued. */
struct dissemination {
	int rounds; /* log2_up(size) */
	int round;
	bool sent; /* this round's message */
};

/*
 * Runs the remaining rounds. send and receive return 0, or a value that ends the run. A repeated
 * run does not send again what was sent.
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
