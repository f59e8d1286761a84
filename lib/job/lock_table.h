// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_table.h - the locks of our own windows, by window slot
 *
 * The words lie in the slot's control block (layout.h), one for each neighbour. Segments are added
 * before a neighbour learns its place, so a rank that has read its word finds it in the chain. The
 * caller of each function holds job->lock.
 */
#ifndef ORIEL_LOCK_TABLE_H
#define ORIEL_LOCK_TABLE_H

#include <stdint.h>

#include "verbs/layout.h"

#define LOCK_FIRST_TICKET 32 /* above LOCK_LOW_TICKETS (win/lock_words.c) */

struct oriel_job;

/* Returns the lock of a slot that is or was in use. */
struct lock_words *lock_table_words(struct oriel_job *job, uint32_t slot);

/*
 * Make places for so many neighbours, in one lock or in all. ERRORS: ORIEL_ERR_MEMORY,
 * ORIEL_ERR_LIMIT.
 */
int lock_table_cover(struct oriel_job *job, uint32_t slot, uint32_t neighbours);
int lock_tables_cover(struct oriel_job *job, uint32_t neighbours);

void lock_table_reset(struct oriel_job *job, uint32_t slot);

/* Returns a neighbour's word, or NULL after the last place. */
struct lock_member *lock_table_member(struct lock_words *words, uint32_t neighbour);

#endif
