// SPDX-License-Identifier: BSD-2-Clause
/*
 * directory.h - our table of windows, which peers read; reading theirs is lookup.h
 */
#ifndef ORIEL_DIRECTORY_H
#define ORIEL_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/layout.h"
#include "verbs/slab.h"

struct oriel_job;

/* Our windows, as peers of one device see them. */
struct directory_table {
	struct table_root *root;        /* registered; peers read it */
	struct piece piece;             /* where it lies */
	void *segments[TABLE_SEGMENTS]; /* struct dir_entry */
};

/* Our windows; guarded by job->lock. The tables of all devices have the same slots. */
struct directory {
	struct directory_table tables[DEVICES_MAX];
	bool *used;          /* by slot */
	uint32_t slot_count; /* slots ever used */
	uint32_t slot_capacity;
	struct piece *controls; /* by slot: control blocks, kept for the slot's next window */
	uint32_t control_capacity;
};

/* The check word of an entry: a hash over everything before it. Never 0. */
uint64_t dir_entry_check(const struct dir_entry *entry);

/* Whether a reading of an entry is whole and describes window `id`. Pure. */
bool dir_entry_matches(const struct dir_entry *entry, const uint8_t id[WINDOW_ID_BYTES]);

/* Make the roots. ERRORS: ORIEL_ERR_MEMORY. */
int directory_open(struct oriel_job *job);
void directory_close(struct oriel_job *job);

/*
 * A free slot for a window, with flag words at every peer and a control block of its own. ERRORS:
 * ORIEL_ERR_LIMIT, ORIEL_ERR_MEMORY.
 */
int directory_take(struct oriel_job *job, uint32_t *slot, struct piece *control);

/* Our entry of a slot in use, as peers of a device see it. */
struct dir_entry *directory_entry(struct oriel_job *job, uint32_t device, uint32_t slot);

/* Show the entry to peers of a device. */
void directory_publish(struct oriel_job *job, uint32_t device, uint32_t slot, const struct dir_entry *entry);

/* Hide the slot from all. */
void directory_hide(struct oriel_job *job, uint32_t slot);

/*
 * Give the slot to a later window. Not after a free in which a member was dead: its writes might
 * still come.
 */
void directory_give(struct oriel_job *job, uint32_t slot);

#endif
