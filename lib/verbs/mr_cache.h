// SPDX-License-Identifier: BSD-2-Clause
/*
 * mr_cache.h - registration cache: registrations of origin memory that outlive their epoch
 *
 * DESIGN NOTES
 *
 * On a device without a key for all memory (device_any_lkey), unregistered origins are registered
 * for their operations. The cache keeps these registrations, of whole pages. At each look-up
 * page_watch.h says whether the memory is unchanged. A registration whose pages have changed serves
 * only the users that began before, and is then dropped.
 *
 * Nothing is kept if the system does not let the library watch, or if libibverbs hides registered
 * memory from forked children: it would stay hidden as long.
 *
 * Only pages that an operation named are registered: another thread may be discarding their
 * neighbours.
 *
 * Cached memory stays locked, so it is bounded in number (MR_CACHE_MAX) and bytes (a quarter of the
 * limit of locked memory, or of the machine's); the least recently used goes first. If memory lacks
 * for a registration, all idle ones are dropped, and it is tried again.
 */
#ifndef ORIEL_MR_CACHE_H
#define ORIEL_MR_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/functions.h"

#define MR_CACHE_MAX 256 /* of a device */

struct mr_cache;
struct cached_mr;

/* Opens a device's cache. Calls take NULL (memory is out, or nothing is kept) as an empty cache. */
struct mr_cache *mr_cache_open(const struct verbs_functions *functions, struct ibv_pd *pd);
void mr_cache_close(struct mr_cache *cache);
/* Returns a registration for use until mr_cache_give; NULL: none can be kept. */
struct cached_mr *mr_cache_take(struct mr_cache *cache, const void *base, size_t size_bytes, bool write);
void mr_cache_give(struct mr_cache *cache, struct cached_mr *entry);
uint32_t mr_cache_lkey(const struct cached_mr *entry);

/* Drops idle entries that no look-up can find. */
void mr_cache_tidy(struct mr_cache *cache);

/*
 * Calls ibv_reg_mr, for any memory. If memory is short, drops all idle registrations of the process
 * and tries again. The caller holds no lock of a cache.
 */
struct ibv_mr *mr_cache_register(const struct verbs_functions *functions, struct ibv_pd *pd, void *base,
                                 size_t size_bytes, unsigned access);

#endif
