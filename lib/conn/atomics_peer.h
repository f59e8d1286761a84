// SPDX-License-Identifier: BSD-2-Clause
/*
 * atomics_peer.h - a second connection to a rank, by its card, which alone may change words
 *
 * DESIGN NOTES
 *
 * A word that several ranks change by atomics has one domain: a change by other means may undo
 * theirs. If a rank's device is atomic among its own requests only (ATOMICS_HCA), all ranks use it,
 * also those that reach that rank by softverbs, and the rank itself. They use an *atomics peer*, a
 * struct peer of the same rank with its own area, wire and connection attempts. Either side makes
 * it at the first such operation, in peer->atomics_peer. A rank's own peer has two, the requesting
 * and the answering end; the latter is the former's atomics_peer.
 *
 * An atomics peer is in no table, and has no flag words, messages or lookups. peer_next returns it
 * like any peer, so goodbyes, draining, closing and device failures include it. Losing one of the
 * two connections means losing the rank.
 */
#ifndef ORIEL_ATOMICS_PEER_H
#define ORIEL_ATOMICS_PEER_H

#include "verbs/wire.h"

struct oriel_job;
struct peer;
struct device;

/*
 * Returns the device that changes the words of this rank, and of all others, which have the same
 * settings; NULL: the processor may.
 */
const struct device *job_atomic_device(const struct oriel_job *job);

/*
 * Returns the device that draws the tickets of its locks. It differs if ORIEL_ATOMICS is "cpu":
 * ranks behind a card cannot draw one in another way.
 */
const struct device *job_ticket_device(const struct oriel_job *job);

/*
 * Finds the atomics peer for a request of that rank, which arrived at `device`, or makes it.
 * ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int atomics_peer_for_request(struct oriel_job *job, int rank, const struct device *device, struct peer **atomics_peer);

/*
 * Finds the connection to the only device that may change the peer's words: the peer itself if it
 * is reached by that device, or its atomics peer, which is requested. 1: *via can be used; 0: wait
 * (wait_watch) and call again. ERRORS, with the text set: ORIEL_ERR_PEER: the peer is dead, or this
 * rank has no such device; ORIEL_ERR_MEMORY.
 */
int peer_atomic_via(struct peer *peer, struct peer **via);

/* Acts as peer_atomic_via, for the wire. */
int peer_atomic_wire(struct peer *peer, struct wire **wire);

#endif
