// SPDX-License-Identifier: BSD-2-Clause
/*
 * directory.h - this rank's table of windows, which peers read; lookup.c reads theirs
 */
#ifndef ORIEL_DIRECTORY_H
#define ORIEL_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/layout.h"
#include "verbs/slab.h"

struct oriel_job;
struct peer;

/* This rank's windows, as peers of one device see them. */
struct directory_table {
	struct table_root *root;        /* registered memory; peers read it */
	struct piece piece;             /* where it lies */
	void *segments[TABLE_SEGMENTS]; /* struct dir_entry */
};

/* This rank's windows; guarded by job->lock. The tables of all devices have the same slots. */
struct directory {
	struct directory_table tables[DEVICES_MAX];
	bool *used;          /* by slot */
	uint32_t slot_count; /* slots ever used */
	uint32_t slot_capacity;
	struct piece *controls; /* by slot: control blocks, kept for the slot's next window */
	uint32_t control_capacity;
};

/* Returns the check word of an entry: a hash over all fields before it. Never 0. */
uint64_t dir_entry_check(const struct dir_entry *entry);

/* Returns whether the copy of an entry is not torn, and describes window `id`. Pure. */
bool dir_entry_matches(const struct dir_entry *entry, const uint8_t id[WINDOW_ID_BYTES]);

/* ERRORS: ORIEL_ERR_MEMORY. */
int directory_open(struct oriel_job *job);
void directory_close(struct oriel_job *job);

/*
 * Takes a free slot for a window, with flag words at every peer and a control block. ERRORS:
 * ORIEL_ERR_LIMIT, ORIEL_ERR_MEMORY.
 */
int directory_take(struct oriel_job *job, uint32_t *slot, struct piece *control);

/* Returns this rank's entry of a slot in use, as peers of a device see it. */
struct dir_entry *directory_entry(struct oriel_job *job, uint32_t device, uint32_t slot);

/* Publishes the entry to peers of a device. */
void directory_publish(struct oriel_job *job, uint32_t device, uint32_t slot, const struct dir_entry *entry);

void directory_hide(struct oriel_job *job, uint32_t slot);

/*
 * Frees the slot for a later window. Must not be called after a free with a dead member: its writes
 * might still arrive.
 */
void directory_give(struct oriel_job *job, uint32_t slot);

/*
 * lookup.c: finding a window in a peer's directory, by RDMA READ
 *
 * The caller passes a function that gets the answer: a lookup knows peers and their tables, but not
 * what windows are.
 */

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
