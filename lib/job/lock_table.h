// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_table.h - the locks of our own windows: their words, by window slot, and the members' places
 *
 * The words lie in the slot's control block (layout.h), with a member word for each neighbour.
 * Segments of members are added before a neighbour learns its place, so a rank that reads the chain
 * after that neighbour's word was written finds it. The caller of each function holds job->lock.
 */
#ifndef ORIEL_LOCK_TABLE_H
#define ORIEL_LOCK_TABLE_H

#include <stdint.h>

#include "verbs/layout.h"

#define LOCK_FIRST_TICKET 32 /* above LOCK_LOW_TICKETS, see win/lock_words.c */

struct oriel_job;

/* Returns the lock of a slot in use, or used before. */
struct lock_words *lock_table_words(struct oriel_job *job, uint32_t slot);

/*
 * Makes places for that many neighbours in the lock of a slot, or of all slots. ERRORS:
 * ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int lock_table_cover(struct oriel_job *job, uint32_t slot, uint32_t neighbours);
int lock_tables_cover(struct oriel_job *job, uint32_t neighbours);

/* Resets the lock for a new window in the slot. */
void lock_table_reset(struct oriel_job *job, uint32_t slot);

/* Returns the word of a neighbour, or NULL after the last place. */
struct lock_member *lock_table_member(struct lock_words *words, uint32_t neighbour);

#endif
