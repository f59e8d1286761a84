// SPDX-License-Identifier: BSD-2-Clause
/*
 * atomics_peer.h - a second connection to a rank, by its card, for words that only the card may
 * change
 *
 * DESIGN NOTES
 *
 * A word that several ranks change by atomics has one domain: who changes it otherwise may undo
 * what the others did. Where a rank's device is atomic among its own requests only (ATOMICS_HCA),
 * all go through that device: also ranks that share memory with it and talk to it by softverbs, and
 * the rank itself. They reach it by an *atomics peer*, a struct peer of the same rank with an area,
 * a wire and attempts to connect of its own. It is made at the first such operation, by either
 * side, and hangs on peer->atomics_peer; one's own rank has two, the end that asks and the end that
 * answers, which is the former's own atomics_peer.
 *
 * An atomics peer stands in no table, and has no flag words, messages and lookups. peer_next hands
 * it out like any peer, so that what is done to all connections (goodbyes, draining, closing,
 * failures of the device) is done to it too. Its rank's death is its own, and the other way round:
 * who has lost one of the two connections to a rank has lost the rank.
 */
#ifndef ORIEL_ATOMICS_PEER_H
#define ORIEL_ATOMICS_PEER_H

#include "verbs/wire.h"

struct oriel_job;
struct peer;
struct device;

/*
 * The device by which all change the words of a rank like this one (the ranks of a job are set alike);
 * NULL: the processor may.
 */
const struct device *job_atomic_device(const struct oriel_job *job);

/*
 * The same for the tickets of its locks. It is another one where ORIEL_ATOMICS is "cpu": ranks behind a card have
 * no other way to draw one.
 */
const struct device *job_ticket_device(const struct oriel_job *job);

/*
 * The atomics peer that a request of that rank, which has come to `device`, is for; made if need
 * be. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int atomics_peer_for_request(struct oriel_job *job, int rank, const struct device *device, struct peer **atomics_peer);

/*
 * By whom the peer's device is reached where only that may change its words: the peer itself if it
 * is talked to by that device, or its atomics peer, which is asked for. 1: *via can be used; 0: not
 * yet, it is to be waited for (wait_watch) and asked again. ERRORS: ORIEL_ERR_PEER: it is dead, or
 * this rank has no such device; ORIEL_ERR_MEMORY. All with the text set.
 */
int peer_atomic_via(struct peer *peer, struct peer **via);

/* The same, for the wire. */
int peer_atomic_wire(struct peer *peer, struct wire **wire);

#endif
