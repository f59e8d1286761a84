// SPDX-License-Identifier: BSD-2-Clause
/* See region_table.h. */
#include "mem/region_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "job/job.h"
#include "verbs/slab.h"

static struct region_root *root_of(const struct region_table *table, uint32_t device)
{
	return table->root[device].addr;
}

static int make_table(struct oriel_job *job, struct region_table **table)
{
	int rc = 0;

	*table = calloc(1, sizeof(**table));
	if (!*table)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for a table of regions");
	for (uint32_t i = 0; rc == 0 && i < job->devices.count; i++)
		rc = slab_alloc(&job->slabs, sizeof(struct region_root), &(*table)->root[i]);
	if (rc)
		free(*table);
	return rc;
}

int region_table_take(struct oriel_job *job, struct region_table **table)
{
	pthread_mutex_lock(&job->lock);
	*table = job->region_tables;
	if (*table)
		job->region_tables = (*table)->next;
	pthread_mutex_unlock(&job->lock);
	return *table ? 0 : make_table(job, table);
}

static void clear(const struct region_table *table, uint32_t device)
{
	struct region_root *root = root_of(table, device);

	for (uint32_t i = 0; i < TABLE_SEGMENTS; i++) {
		if (table->segments[device][i])
			memset(table->segments[device][i], 0, table_segment_elements(i) * sizeof(struct region_entry));
	}
	root->used = region_used(0);
}

void region_table_give(struct oriel_job *job, struct region_table *table)
{
	for (uint32_t i = 0; i < job->devices.count; i++)
		clear(table, i);
	pthread_mutex_lock(&job->lock);
	table->next = job->region_tables;
	job->region_tables = table;
	pthread_mutex_unlock(&job->lock);
}

void region_tables_close(struct oriel_job *job)
{
	while (job->region_tables) {
		struct region_table *table = job->region_tables;

		job->region_tables = table->next;
		free(table);
	}
}

static struct region_entry *entry_at(const struct region_table *table, uint32_t device, uint32_t index)
{
	uint32_t offset, segment = table_segment(index, &offset);

	return (struct region_entry *)table->segments[device][segment] + offset;
}

/*
 * Pairs with take_entry and read_table, remote_regions.c, at an origin: a half-written entry fails
 * its check. The entry and `used` are unordered: an origin that must find the entry reads both
 * after this call.
 */
static void publish(const struct region_table *table, uint32_t device, uint32_t index, const struct region_entry *entry)
{
	struct region_entry *own = entry_at(table, device, index);
	struct region_root *root = root_of(table, device);

	own->check = 0;
	full_fence();
	memcpy(own, entry, offsetof(struct region_entry, check));
	full_fence();
	own->check = entry->check;
	if (region_used_of(root->used) <= index)
		flag_store(&root->used, region_used(index + 1));
}

int region_table_show(struct oriel_job *job, struct region_table *table, uint32_t index,
                      const struct region_entry *region, const struct registration *registration)
{
	uint32_t offset, segment = table_segment(index, &offset);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < job->devices.count; i++)
		rc = table_add_segment(&job->slabs, i, &root_of(table, i)->segments.segment[segment],
		                       table_segment_elements(segment) * sizeof(struct region_entry),
		                       &table->segments[i][segment]);
	for (uint32_t i = 0; rc == 0 && i < job->devices.count; i++) {
		struct region_entry entry = *region;

		entry.rkey = registration->mr[i] ? registration->mr[i]->rkey : 0;
		entry.check = region_check(&entry);
		publish(table, i, index, &entry);
	}
	return rc;
}

void region_table_hide(struct oriel_job *job, struct region_table *table, uint32_t index)
{
	static const struct region_entry nothing;

	for (uint32_t i = 0; i < job->devices.count; i++)
		publish(table, i, index, &nothing);
}
