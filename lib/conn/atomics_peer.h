// SPDX-License-Identifier: BSD-2-Clause
/*
 * atomics_peer.h - a second connection to a rank, by its card, which alone may change words
 *
 * DESIGN NOTES
 *
 * A change of a word by other means may undo changes by atomics. If a rank's device is atomic among
 * its own requests only (ATOMICS_HCA), all ranks use it, also those that reach the rank by
 * softverbs, and the rank itself. They use an *atomics peer*, a struct peer of that rank with its
 * own area and wire, in peer->atomics_peer. Either side makes it at the first such operation. A
 * rank's own peer has two, the requesting and the answering end; the latter is the former's
 * atomics_peer.
 *
 * An atomics peer is in no table, and has no flag words, messages or lookups. peer_next returns it,
 * so goodbyes, draining, closing and device failures include it. A rank is lost with one of its two
 * connections.
 */
#ifndef ORIEL_ATOMICS_PEER_H
#define ORIEL_ATOMICS_PEER_H

#include "verbs/wire.h"

struct oriel_job;
struct peer;
struct device;

/* Returns the device that changes the words of all ranks; NULL: the processor may. */
const struct device *job_atomic_device(const struct oriel_job *job);

/*
 * Returns the device that draws the tickets of this rank's locks, also if ORIEL_ATOMICS is "cpu":
 * ranks behind a card have no other way.
 */
const struct device *job_ticket_device(const struct oriel_job *job);

/*
 * Finds or makes the atomics peer for a request of that rank, which arrived at `device`. ERRORS:
 * ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int atomics_peer_for_request(struct oriel_job *job, int rank, const struct device *device, struct peer **atomics_peer);

/*
 * Finds the connection to the only device that may change the peer's words: the peer or its atomics
 * peer, which is requested. Returns 1: *via can be used; 0: wait (wait_watch) and call again.
 * ERRORS (with text): ORIEL_ERR_PEER: the peer is dead, or this rank has no such device;
 * ORIEL_ERR_MEMORY.
 */
int peer_atomic_via(struct peer *peer, struct peer **via);

/* Returns peer_atomic_via's result, with the wire. */
int peer_atomic_wire(struct peer *peer, struct wire **wire);

#endif
