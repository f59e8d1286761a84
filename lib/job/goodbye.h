// SPDX-License-Identifier: BSD-2-Clause
/*
 * goodbye.h - how a rank leaves the job: by goodbyes between those who are connected
 *
 * DESIGN NOTES
 *
 * The launcher is not asked. That no queue pair goes away under somebody's requests, and that a
 * disconnect in order is no death, are matters between two connected ranks; the cost grows with the
 * neighbours of a rank, not with the ranks of the job.
 *
 * In oriel_finalize a rank
 *   1. drains: all its requests are complete, so messages and flags lie in the peers' memory;
 *   2. begins, on the service thread. From here on it makes no connection and rejects requests for
 *      one, saying that it has left. An attempt of its own that no other rank knows of yet is
 *      dropped. One that the other side may know of comes up, or its step's time is over;
 *   3. says goodbye to each peer whose connection is up, or comes up now: a word in the area that
 *      the peer has for it (layout.h), behind everything else on that queue pair;
 *   4. waits, peer by peer, until its own word is acknowledged and the peer's has come, or the peer
 *      is dead. Meanwhile it takes messages, and its directory and areas can be read: the peer may have
 *      a lot to do yet;
 *   5. tells the launcher that it leaves, disconnects, and releases everything.
 *
 * Between two ranks: whoever disconnects has seen the other's word, so the other has nothing under
 * way but pings and perhaps the acknowledgement of that word; and its own word is acknowledged, so the
 * other has it in memory. Hence a connection that ends, or a queue pair that breaks, where the peer's
 * word is in our area is no death (peer_lost): the peer had left, and no request was lost.
 *
 * Nobody needs a rank that has gone. Calls that all members of a group make end only when what this
 * rank owes the others in them lies in their memory, or in requests that step 1 waits for: the
 * messages of oriel_barrier, of making and of freeing a window. Windows are freed, so nobody looks
 * anything up here or has an epoch with us. Whoever was connected to is waited for in step 4;
 * whoever was not has never owed us anything, nor we him. This holds for programs in which every
 * call succeeded. Where one has failed (a death, a timeout), somebody may wait in vain for a rank
 * that has left:
 *
 *   he waits for its message and is connected   its word is there and the message is not: he is told
 *                                            (coll.c), while the rank waits for him in step 4
 *   he waits on a window and is connected    its directory says that the window is gone (link.c)
 *   he is not connected and asks for it      rejected, "has left"; or, once the process has ended,
 *                                            out of reach
 *
 * Each of these is ORIEL_ERR_PEER for the call, and no death: his own oriel_finalize gives 0.
 *
 * When something goes wrong here: a peer that dies before its word is found by pings, disconnect or
 * launcher, as in any wait, and is a death that oriel_finalize tells; one that dies behind its word
 * had left, unless the launcher says otherwise. When the time limit passes, the words that were said
 * stay said: the next oriel_finalize goes on waiting, and nothing but that and oriel_abort is of use
 * (job_count_collective). A launcher that is gone does not matter.
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
	bool asked;       /* the task has been handed over; by oriel_finalize's thread */
	struct task task; /* step 2 */
	uint32_t begun;   /* 0 or 1; written by the service thread, read by state_load */
};

/* Whether this rank is in oriel_finalize, past the point of no return. */
static inline bool goodbye_has_begun(const struct goodbye *goodbye)
{
	return state_load(&goodbye->begun); /* pairs with begin in goodbye.c: no peer is made any more */
}

/* Service thread: say goodbye to a peer whose connection is up. */
void goodbye_say(struct peer *peer);

/*
 * Steps 2 to 4. ERRORS: ORIEL_ERR_TIMEOUT: call again. What the dead have to do with it is told by
 * job_dead_member.
 */
int goodbye_run(struct oriel_job *job);

#endif
