// SPDX-License-Identifier: BSD-2-Clause
/*
 * lookup.h - finding a window in a peer's directory, by RDMA READ
 *
 * Whoever asks hands over what is to be called with the answer; a lookup knows peers and their
 * tables, not what windows are.
 */
#ifndef ORIEL_LOOKUP_H
#define ORIEL_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/layout.h"

struct peer;

/* Who waits for an answer. */
struct lookup_customer {
	/*
	 * The window's entry at the peer, and the slot where it was found; NULL if the peer has no such
	 * window. Called by the service thread, or at once by the thread that asks.
	 */
	void (*done)(const struct lookup_customer *customer, const struct dir_entry *entry, uint32_t slot);
	void *window;
	void *link;
	uint32_t *pending; /* lookups under way for this customer; atomic, by the service thread downwards */
};

/*
 * Ask for the window `id`: its peer connected, its entry found, first tried at `slot`. The service
 * thread does it and calls customer->done, or does not when the peer dies. Either way *pending goes
 * down again, last of all. In one's own directory, and at `slot` of one that the processor reaches and
 * knows, the caller finds it at once. ERRORS: ORIEL_ERR_MEMORY.
 */
int lookup_request(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                   const struct lookup_customer *customer);

/*
 * The same for a window that has been found at `slot`: is it still there? ERRORS: ORIEL_ERR_MEMORY.
 */
int lookup_again(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                 const struct lookup_customer *customer);

/* Service thread: go on with a peer's lookups. Whether some are left. */
bool lookups_tick(struct peer *peer);

/* Service thread: the peer is dead. */
void lookups_fail(struct peer *peer);

#endif
