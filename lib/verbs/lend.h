// SPDX-License-Identifier: BSD-2-Clause
/*
 * lend.h - load and store instead of work requests, where the device can lend a peer's memory
 *
 * DESIGN NOTES
 *
 * softverbs can map a peer's shared memory into this process; a NIC cannot. Two things are
 * borrowed, both at the first use:
 *
 *   a window's memory   link->base becomes an address of ours and link->lent is set; rma.c copies where it would post.
 *   words               the slabs in which a peer keeps its flags, through lend_flag: a flag is a store where it would be a
 *                       work request. Only for flags that need not stay behind work requests: posts, the barrier of a fence, whose
 *                       data is complete by then, and the completes of a lent window, whose data are stores before it.
 *
 * A store into the memory of a process that has died is not noticed; who needs it is told by the
 * next call that needs it alive.
 *
 * Everything else stays verbs. Nobody checks an access to lent memory but rma.c, which has checked
 * the range in any case. Windows are given back when they are freed: after the barrier of that
 * nobody touches them, whoever deregisters first. Slabs go with the peer.
 */
#ifndef ORIEL_LEND_H
#define ORIEL_LEND_H

#include "win/link.h"

/*
 * Whether the device is one that lends: it also needs this process's hands, to place what arrives
 * in memory that it cannot lend.
 */
bool lend_offered(void);

/* Ask for the link's memory, once; the link is ready. The caller holds win->lock. */
void lend_ask(struct link *link);

void lend_return(struct link *link);

/*
 * Write a flag word that need not stay behind work requests: a store where the word is lent, else
 * wire_flag, which `before`, `number` and the errors are for.
 */
int lend_flag(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number);

/* Give back what lend_flag has borrowed; nobody uses the wire any more. */
void lend_return_words(struct wire *wire);

#endif
