// SPDX-License-Identifier: BSD-2-Clause
/*
 * goodbye.h - how a rank leaves the job: by goodbyes between connected ranks
 *
 * DESIGN NOTES
 *
 * Only two connected ranks must agree that a disconnect is no death, and that no request needs the
 * queue pair.
 *
 * In oriel_finalize a rank
 *
 *   1. drains: all its requests are complete, so messages and flags lie in the peers' memory;
 *   2. begins, on the service thread. From here on it makes no connection, and rejects requests.
 *      It drops attempts that no other rank knows of yet. Other attempts come up, or reach their
 *      step's time limit;
 *   3. says goodbye to each peer whose connection is up, or comes up now: it writes a word into the
 *      peer's area for it (layout.h), behind all other requests on that queue pair;
 *   4. waits, peer by peer, until its own word is acknowledged and the peer's has arrived, or the
 *      peer is dead. Meanwhile it takes messages, and busy peers can read its directory and areas;
 *   5. informs the launcher, disconnects, and releases everything.
 *
 * A rank disconnects after both words have arrived, when only pings and perhaps an acknowledgement
 * are in flight. So a connection that ends, or a queue pair that breaks, is no death if the peer's
 * word is in our area (peer_lost).
 *
 * No rank needs one that has left: a collective call ends when what this rank owes the others lies
 * in their memory, or in requests of step 1. After a failed call, a rank may wait in vain for one
 * that has left:
 *
 *   for a message, connected    the goodbye has arrived without the message: the call fails
 *                               (coll.c) while the leaving rank waits in step 4
 *   on a window, connected      the directory shows that the window is gone (link.c)
 *   not connected               its request is rejected; once the process has ended, out of reach
 *
 * Each is ORIEL_ERR_PEER for the call, and no death: oriel_finalize of the waiting rank returns 0.
 *
 * Pings, disconnect or launcher reveal a peer that dies before its word, and oriel_finalize reports
 * the death; one that dies later has left, unless the launcher reports otherwise. After a timeout
 * only oriel_finalize and oriel_abort are of use (job_count_collective).
 */
#ifndef ORIEL_GOODBYE_H
#define ORIEL_GOODBYE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"
#include "job/service_queue.h"

struct oriel_job;
struct peer;

struct goodbye {
	bool asked;       /* the task has been handed over; for oriel_finalize's thread */
	struct task task; /* step 2 */
	uint32_t begun;   /* 0 or 1; written by the service thread, read by state_load */
};

/* Returns whether this rank is past the point of no return of oriel_finalize. */
static inline bool goodbye_has_begun(const struct goodbye *goodbye)
{
	return state_load(&goodbye->begun); /* pairs with begin in goodbye.c: no peer is made any more */
}

/* Says goodbye to a connected peer. Service thread. */
void goodbye_say(struct peer *peer);

/*
 * Carries out steps 2 to 4. job_dead_member reports deaths. ERRORS: ORIEL_ERR_TIMEOUT: call again.
 */
int goodbye_run(struct oriel_job *job);

#endif
