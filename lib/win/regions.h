// SPDX-License-Identifier: BSD-2-Clause
/*
 * regions.h - the regions attached to a dynamic window here, and how they are detached
 *
 * DESIGN NOTES
 *
 * Peers read the table of regions (region_table.h) and keep what they have read (remote_regions.h),
 * so an operation needs no more messages than on other windows. A region can be detached only when
 * no rank uses its key, since a request with a stale key breaks the queue pair. Two ranks have two
 * words for that (struct flag_pair), each written by one side alone:
 *
 *   origin                                         owner
 *   acked = notified + 1: I read your table        detach: hide the entry; full fence;
 *   (placed before the first reading)              which have acked != 0? to each of these
 *   notified has changed: drop that entry; once    notified = detaches so far, and entry's index
 *   all requests posted before are complete,       wait until its acked is notified + 1,
 *   acked = notified + 1                           or it is dead; then deregister
 *
 * Either the owner sees `acked`, or the origin's first reading comes after the entry was hidden.
 * The origin checks `notified` under the window's lock before it uses an entry; its service thread
 * does for a rank that computes. A torn `notified` makes the origin drop another entry, which it
 * reads again, and send an answer that the owner ignores: only the whole word ends the wait.
 *
 * Detaches of one window follow one another; the next call of any thread continues one that timed
 * out. The thread that finds the region unused takes it out of the tree, then deregisters its
 * memory and moves it back without win->lock. The tree is ordered by address, and regions that
 * overlap compare equal: so tsearch finds an overlap.
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
	void *empty;                /* regions of no bytes, by base */
	struct region *going;       /* is being detached */
	uint64_t notified;          /* the last notification: detaches so far << 16 | index */
	uint64_t serial;            /* of the region attached last */
	uint32_t *free;             /* indices to use again */
	uint32_t free_count;
	uint32_t free_capacity;
	uint32_t used; /* indices ever used */
};

int regions_open(struct oriel_win *win);

/* Releases all regions; no rank reads the table any more. */
void regions_close(struct oriel_win *win);

/*
 * Returns whether all of [addr, addr + size_bytes) is attached here, in one region or in adjacent
 * ones, and is writable if `write`. It then stays attached until regions_unuse, which must follow
 * soon. Called without win->lock.
 */
bool regions_use(struct oriel_win *win, uint64_t addr, size_t size_bytes, bool write);
void regions_unuse(struct oriel_win *win);

#endif
