// SPDX-License-Identifier: BSD-2-Clause
/*
 * remote_regions.h - what this rank knows of the regions attached to a dynamic window at a member
 *
 * DESIGN NOTES
 *
 * The member's table is read when an operation names memory that is not known, and kept, sorted by
 * address; how entries go again is told in regions.h. Readings are made under win->lock, so no
 * entry that was read before its end was notified is kept after it: `notified` is looked at under
 * the same lock.
 *
 * A device reads in no order, and torn words, while the member attaches other memory. Yet one
 * reading is enough, and waits for nobody: all of a region that the caller may use was stored
 * before the call, and stays as it is, so it is read as it is. That is its entry, and where its
 * segment lies; `used` only grows, and a torn one counts as the largest. What is found torn, or not
 * linked, is of other memory. Nothing is concluded from a reading for a later call: each refusal
 * has read the table. tests/models/region_model.py tries all orders.
 *
 * For a rank that makes no calls its service thread answers: a task looks at the words of the links
 * that have read a table every few milliseconds, from the first reading to the end of the window.
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

/* A region as the member has shown it. */
struct remote_region {
	uint64_t base;
	uint64_t size_bytes;
	uint64_t serial;
	uint8_t *here; /* where base is in this process; NULL: not mapped */
	uint32_t rkey;
	uint32_t index;
	bool read_only;
	bool map_asked;
};

/* Of one link; guarded by win->lock but for what the task looks at without. */
struct remote_regions {
	struct remote root;         /* of the member's table */
	struct remote_region *list; /* sorted by base */
	uint32_t count;
	bool subscribed;
	uint64_t notified;      /* the last one acted upon; counter_load */
	uint64_t acked;         /* our last word to the member */
	uint64_t answer_number; /* the request to be complete before the next */
	uint32_t answering;     /* 1: notified is to be acknowledged; state_load */
	uint64_t notified_sent; /* as owner: our last word to the member */
};

/* The links that have read tables: changed under win->lock and `lock`, read under either. */
struct regions_watch {
	pthread_mutex_t lock;
	struct link **links;
	uint32_t count;
	uint32_t capacity;
	struct task task;
	uint32_t running; /* the task is handed over, or runs; state_load */
	uint32_t stop;    /* it is to end; state_load */
};

void regions_watch_init(struct regions_watch *watch);
void regions_watch_destroy(struct regions_watch *watch);

/* Have the task end, and wait for it. */
void regions_watch_stop(struct oriel_win *win);

/*
 * Service thread: the member's window is a dynamic one, whose table has its root there; the link
 * has its extension. Displacements are addresses. False when memory is out.
 */
bool remote_regions_begin(struct link *link, struct remote root);
void remote_regions_free(struct link *link);

/*
 * See to it that all of [addr, addr + size_bytes) at the member is known, and set link->read_only
 * to whether some of it may not be written. size_bytes > 0; holds win->lock, which is kept. ERRORS:
 * ORIEL_ERR_RANGE: it is not attached; ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int remote_regions_find(struct oriel_win *win, struct link *link, uint64_t addr, uint64_t size_bytes);

/*
 * The known region that holds addr, with its memory mapped where that can be; NULL: none. Holds
 * win->lock.
 */
struct remote_region *remote_region_at(struct link *link, uint64_t addr);

/* Act on the members' notifications, and acknowledge those that can be. Holds win->lock. */
void remote_regions_look(struct oriel_win *win);

#endif
