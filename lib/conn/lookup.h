// SPDX-License-Identifier: BSD-2-Clause
/*
 * lookup.h - finding a window in a peer's directory, by RDMA READ
 *
 * The caller passes a function that gets the answer: a lookup knows peers and their tables, but not
 * what windows are.
 */
#ifndef ORIEL_LOOKUP_H
#define ORIEL_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/layout.h"

struct peer;

/* The recipient of an answer. */
struct lookup_customer {
	/*
	 * Gets the window's entry at the peer and the slot where it was found; NULL if the peer has no
	 * such window. Called by the service thread, or in the call itself by the requesting thread.
	 */
	void (*done)(const struct lookup_customer *customer, const struct dir_entry *entry, uint32_t slot);
	void *window;
	void *link;
	uint32_t *pending; /* outstanding lookups of this customer; atomic, the service thread decrements it */
};

/*
 * Looks up the window `id`, first at `slot`; the peer is connected if necessary. The service thread
 * calls customer->done, unless the peer dies. In either case it decrements *pending last. An entry
 * in this rank's own directory, or at `slot` of a mapped directory that is known, is found in the
 * call. ERRORS: ORIEL_ERR_MEMORY.
 */
int lookup_request(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                   const struct lookup_customer *customer);

/* Checks whether a window that was found at `slot` is still there. ERRORS: ORIEL_ERR_MEMORY. */
int lookup_again(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                 const struct lookup_customer *customer);

/* Advances a peer's lookups. Returns whether some are left. Service thread. */
bool lookups_tick(struct peer *peer);

void lookups_fail(struct peer *peer);

#endif
