// SPDX-License-Identifier: BSD-2-Clause
/*
 * directory.h - this rank's table of windows, which peers read; lookup.h reads theirs
 */
#ifndef ORIEL_DIRECTORY_H
#define ORIEL_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/layout.h"
#include "verbs/slab.h"

struct oriel_job;

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

#endif
