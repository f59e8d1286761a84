// SPDX-License-Identifier: BSD-2-Clause
/* directory.h - this rank's table of windows, which peers read; lookup.c reads theirs */
#ifndef ORIEL_DIRECTORY_H
#define ORIEL_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/layout.h"
#include "verbs/slab.h"

struct oriel_job;
struct peer;

/* For peers of one device. */
struct directory_table {
	struct table_root *root;        /* peers read it */
	struct piece piece;             /* holds root */
	void *segments[TABLE_SEGMENTS]; /* struct dir_entry */
};

/* This rank's windows, under job->lock. The tables of all devices have the same slots. */
struct directory {
	struct directory_table tables[DEVICES_MAX];
	bool *used;          /* by slot */
	uint32_t slot_count; /* slots ever used */
	uint32_t slot_capacity;
	struct piece *controls; /* by slot: control blocks, kept for the next window */
	uint32_t control_capacity;
};

/* Returns the check word: a hash over all fields before it. Never 0. */
uint64_t dir_entry_check(const struct dir_entry *entry);

/* Returns whether a copied entry is not torn, and describes window `id`. */
bool dir_entry_matches(const struct dir_entry *entry, const uint8_t id[WINDOW_ID_BYTES]);

/* ERRORS: ORIEL_ERR_MEMORY. */
int directory_open(struct oriel_job *job);
void directory_close(struct oriel_job *job);

/*
 * Takes a free slot, with flag words at every peer and a control block. ERRORS: ORIEL_ERR_LIMIT,
 * ORIEL_ERR_MEMORY.
 */
int directory_take(struct oriel_job *job, uint32_t *slot, struct piece *control);

/* The slot is in use. */
struct dir_entry *directory_entry(struct oriel_job *job, uint32_t device, uint32_t slot);

void directory_publish(struct oriel_job *job, uint32_t device, uint32_t slot, const struct dir_entry *entry);

void directory_hide(struct oriel_job *job, uint32_t slot);

/* Must not be called after a free with a dead member: its writes might still arrive. */
void directory_give(struct oriel_job *job, uint32_t slot);

/*
 * lookup.c: finding a window in a peer's directory, by RDMA READ
 *
 * A lookup knows peers and their tables, but not what windows are: the caller passes a function.
 */

struct lookup_customer {
	/*
	 * Gets the window's entry at the peer and its slot; NULL: the peer has no such window. Called
	 * by the service thread, or by the requesting thread in the call.
	 */
	void (*done)(const struct lookup_customer *customer, const struct dir_entry *entry, uint32_t slot);
	void *window;
	void *link;
	uint32_t *pending; /* outstanding lookups; atomic, decremented by the service thread */
};

/*
 * Looks up the window `id`, first at `slot`; connects the peer if necessary. The service thread
 * calls customer->done, unless the peer dies, and decrements *pending last. An entry of this rank,
 * or at `slot` of a mapped known directory, is found in the call. ERRORS: ORIEL_ERR_MEMORY.
 */
int lookup_request(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                   const struct lookup_customer *customer);

/* Checks whether a window is still at `slot`. ERRORS: ORIEL_ERR_MEMORY. */
int lookup_again(struct peer *peer, const uint8_t id[WINDOW_ID_BYTES], uint32_t slot,
                 const struct lookup_customer *customer);

/* Advances a peer's lookups. Returns whether some are left. Service thread. */
bool lookups_tick(struct peer *peer);

void lookups_fail(struct peer *peer);

#endif
