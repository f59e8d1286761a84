// SPDX-License-Identifier: BSD-2-Clause
/*
 * remote_regions.h - what this rank knows of the regions of a dynamic window at a member
 *
 * DESIGN NOTES
 *
 * An operation that names unknown memory makes this rank read the member's table and keep it,
 * sorted by address; regions.h explains how entries are dropped. win->lock covers readings and
 * checks of `notified`, so no entry outlives its notification.
 *
 * A device reads in no order, and torn words, while the member attaches other memory. Yet one
 * reading is enough. The entry and the segment of a region that the caller may use were stored
 * before the call, and do not change. `used` only grows; a torn value counts as the largest. A torn
 * or unlinked entry belongs to other memory. tests/models/region_model.py tries all orders.
 *
 * For a rank that makes no calls the service thread answers: a task checks the words of links that
 * have read a table, every millisecond, until the window ends.
 */
#ifndef ORIEL_REMOTE_REGIONS_H
#define ORIEL_REMOTE_REGIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/service_queue.h"
#include "verbs/wire.h"

struct oriel_win;
struct link;

struct remote_region {
	uint64_t base;
	uint64_t size_bytes;
	uint64_t serial;
	uint8_t *here; /* address in this process; NULL: not mapped */
	uint32_t rkey;
	uint32_t index;
	bool read_only;
	bool map_asked;
};

/* Guarded by win->lock, except for what the task reads. */
struct remote_regions {
	struct remote root;         /* of the member's table */
	struct remote_region *list; /* sorted by base */
	uint32_t count;
	bool subscribed;
	uint64_t notified;      /* last notification handled; counter_load */
	uint64_t acked;         /* last acknowledgement sent */
	uint64_t answer_number; /* request that completes before the next acknowledgement */
	uint32_t answering;     /* an acknowledgement is due; state_load */
	uint64_t notified_sent; /* as owner: last notification sent */
};

/* Links that have read tables: changed under win->lock and `lock`, read under either. */
struct regions_watch {
	pthread_mutex_t lock;
	struct link **links;
	uint32_t count;
	uint32_t capacity;
	struct task task;
	uint32_t running; /* the task is queued, or runs; state_load */
	uint32_t stop;    /* the task must end; state_load */
};

void regions_watch_init(struct regions_watch *watch);
void regions_watch_destroy(struct regions_watch *watch);

/* Stops the task, and waits for its end. */
void regions_watch_stop(struct oriel_win *win);

/*
 * Prepares the link, which has its extension, to a member whose table's root is `root`, on the
 * service thread. Displacements are addresses. False: out of memory.
 */
bool remote_regions_begin(struct link *link, struct remote root);
void remote_regions_free(struct link *link);

/*
 * Makes all of [addr, addr + size_bytes) known, at least one byte, and sets link->read_only if part
 * of it is read-only. Under win->lock. ERRORS: ORIEL_ERR_RANGE: it is not attached; ORIEL_ERR_PEER,
 * ORIEL_ERR_MEMORY.
 */
int remote_regions_find(struct oriel_win *win, struct link *link, uint64_t addr, uint64_t size_bytes);

/* Returns the known region that holds addr, mapped where possible; or NULL. Under win->lock. */
struct remote_region *remote_region_at(struct link *link, uint64_t addr);

/* Returns the region that holds these bytes and is not mapped here; or NULL. Under win->lock. */
const struct remote_region *remote_region_unmapped(struct oriel_win *win, struct link *link, uint64_t addr,
                                                   uint64_t size_bytes);

/* Handles the members' notifications, and sends acknowledgements that are due. Under win->lock. */
void remote_regions_look(struct oriel_win *win);

#endif
