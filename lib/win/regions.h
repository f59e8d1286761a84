// SPDX-License-Identifier: BSD-2-Clause
/*
 * regions.h - the regions attached to a dynamic window here, and how they are detached
 *
 * DESIGN NOTES
 *
 * Peers read the table of regions (region_table.h) and keep what they have read (remote_regions.h),
 * so operations need no more messages. A request with a stale key breaks the queue pair, so a
 * region is detached only when no rank uses its key. Each pair of ranks has two words for that
 * (struct flag_pair), each written by one side alone:
 *
 *   origin                                         owner
 *   acked = notified + 1: I read your table        detach: hide the entry; full fence;
 *   (placed before the first reading)              which have acked != 0? to each of these
 *   notified has changed: drop that entry; once    notified = detaches so far, and entry's index
 *   all requests posted before are complete,       wait until its acked is notified + 1,
 *   acked = notified + 1                           or it is dead; then deregister
 *
 * Either the owner sees `acked`, or the origin's first reading comes after the entry was hidden.
 * The origin checks `notified` under win->lock before it uses an entry; its service thread does for
 * a rank that computes. A torn `notified` makes the origin drop another entry, which it reads
 * again, and send an answer that the owner ignores.
 *
 * Detaches of one window follow one another; the next call of any thread continues one that timed
 * out. The thread that finds the region unused takes it out of the tree, and releases it without
 * win->lock.
 */
#ifndef ORIEL_REGIONS_H
#define ORIEL_REGIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/service_queue.h"
#include "mem/region_table.h"

struct oriel_win;
struct region;

/*
 * Guarded by win->lock; changes also take `lock`, which a thread that applies others' operations
 * takes alone.
 */
struct regions {
	pthread_mutex_t lock;
	struct region_table *table; /* NULL: the window is not dynamic */
	void *tree;                 /* struct region, by tsearch */
	void *empty;                /* those of no bytes, by base */
	struct region *going;       /* being detached */
	uint64_t notified;          /* last notification: detaches << 16 | index */
	uint64_t serial;            /* of the last region */
	uint32_t *free;             /* free indices */
	uint32_t free_count;
	uint32_t free_capacity;
	uint32_t used; /* indices ever used */
};

int regions_open(struct oriel_win *win);

/* No rank reads the table any more. */
void regions_close(struct oriel_win *win);

/*
 * Returns whether all of [addr, addr + size_bytes) is attached, in one or in adjacent regions, and
 * writable if `write`. It stays attached until regions_unuse, which must follow soon. Not under
 * win->lock.
 */
bool regions_use(struct oriel_win *win, uint64_t addr, size_t size_bytes, bool write);
void regions_unuse(struct oriel_win *win);

#endif
