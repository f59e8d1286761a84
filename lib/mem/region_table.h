// SPDX-License-Identifier: BSD-2-Clause
/*
 * region_table.h - our side of a dynamic window's table of regions, which peers read
 *
 * Tables lie in slabs, which are never freed: a later window reuses a freed one's.
 */
#ifndef ORIEL_REGION_TABLE_H
#define ORIEL_REGION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/devices.h"
#include "verbs/layout.h"
#include "verbs/slab.h"

struct oriel_job;

/* The table, once for the peers of each device. */
struct region_table {
	struct region_table *next;                   /* in the list of unused tables */
	struct piece root[DEVICES_MAX];              /* struct region_root */
	void *segments[DEVICES_MAX][TABLE_SEGMENTS]; /* struct region_entry */
};

/* Returns an empty table. ERRORS: ORIEL_ERR_MEMORY. */
int region_table_take(struct oriel_job *job, struct region_table **table);
void region_table_give(struct oriel_job *job, struct region_table *table);

void region_tables_close(struct oriel_job *job);

/*
 * Publishes a region, with its key for each device. The caller holds the window's lock, also of
 * region_table_hide. ERRORS: ORIEL_ERR_MEMORY.
 */
int region_table_show(struct oriel_job *job, struct region_table *table, uint32_t index,
                      const struct region_entry *region, const struct registration *registration);

void region_table_hide(struct oriel_job *job, struct region_table *table, uint32_t index);

#endif
