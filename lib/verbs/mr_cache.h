// SPDX-License-Identifier: BSD-2-Clause
/*
 * mr_cache.h - registrations of origin memory that outlive the epoch they were made for
 *
 * DESIGN NOTES
 *
 * On a device without a key for all memory (device_any_lkey) origins that nobody has registered are
 * registered for their operations. Here such a registration is kept, of whole pages, and for writing too
 * where the memory allows that, and serves later operations of the same memory. Whether it is still the
 * same memory page_watch.h tells, at each look-up: a registration whose pages have been unmapped, moved,
 * discarded or mapped anew serves whoever has it already, to whom the memory belonged when he began, and
 * nobody else; it is dropped when he gives it back.
 *
 * Nothing is kept where the system does not let us watch, nor where libibverbs hides registered memory
 * from forked children (ibv_fork_init on systems that do not copy it for them): what is kept would be
 * hidden as long.
 *
 * Only pages that an operation named are registered, none beside them: a neighbour may be discarding his.
 *
 * What is kept stays locked in memory. It is bounded in number (MR_CACHE_MAX) and bytes (a quarter of what may
 * be locked, or of the machine's memory where that is not limited); who is used least lately goes first.
 * Where a registration of this process fails for want of memory, all that nobody uses is given back, and
 * it is tried again.
 */
#ifndef ORIEL_MR_CACHE_H
#define ORIEL_MR_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/functions.h"

#define MR_CACHE_MAX 256 /* registrations of a device */

struct mr_cache;
struct cached_mr;

/* Of a device's domain. NULL, for want of memory, or where nothing is to be kept: all calls take that for an empty one. */
struct mr_cache *mr_cache_open(const struct verbs_functions *functions, struct ibv_pd *pd);
void mr_cache_close(struct mr_cache *cache);

/*
 * A registration of memory that the caller uses now, for writing too if `write`; NULL: none can be kept. His
 * until mr_cache_give.
 */
struct cached_mr *mr_cache_take(struct mr_cache *cache, const void *base, size_t size_bytes, bool write);
void mr_cache_give(struct mr_cache *cache, struct cached_mr *entry);
uint32_t mr_cache_lkey(const struct cached_mr *entry);

/* Drop what no look-up can find any more and nobody uses. */
void mr_cache_tidy(struct mr_cache *cache);

/*
 * ibv_reg_mr, for whatever: where memory is short, what is kept of all devices of the process and nobody
 * uses is given back first. The caller holds no lock of a cache.
 */
struct ibv_mr *mr_cache_register(const struct verbs_functions *functions, struct ibv_pd *pd, void *base,
                                 size_t size_bytes, unsigned access);

#endif
