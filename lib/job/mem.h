// SPDX-License-Identifier: BSD-2-Clause
/*
 * mem.h - which local memory is registered, and under which key
 *
 * Windows and oriel_mem_register enter their memory here; put and get look origin buffers up. The
 * table is sorted by address; regions may overlap (the same bytes in several windows).
 */
#ifndef ORIEL_MEM_H
#define ORIEL_MEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/handle.h"
#include "base/order.h"
#include "verbs/devices.h"

/* One registered region. */
struct mem_region {
	uintptr_t base;
	size_t size_bytes;
	struct registration registration; /* with a device that pins, perhaps, from its first use as an origin on */
	bool read_only; /* no local write access: cannot be the origin of a get */
};

struct mem_table {
	const struct devices *devices;
	/*
	 * Where the memory lies. Held for reading while memory is registered for peers, until the table has it; for writing by
	 * who moves memory of which nothing is registered (in_place.h). Taken before `lock`.
	 */
	pthread_rwlock_t places;
	pthread_rwlock_t lock; /* guards the rest */
	struct mem_region *regions;
	uint32_t count;
	uint32_t capacity;
	size_t largest_bytes; /* of any region ever entered: bounds the search */
	uint64_t version;     /* changes with the regions; counter_load; never 0 */
};

/*
 * What a look into the table has found, while `version` is the table's: the memory from `first` to `last` is that of
 * one region, or of none. All 0: nothing yet. Who uses it guards it.
 */
struct mem_seen {
	uint64_t version;
	uintptr_t first, last;
	uint32_t device;
	uint32_t lkey;
	bool read_only;
};

struct oriel_mem {
	struct handle handle;
	struct oriel_job *job;
	struct registration registration;
};

void mem_table_init(struct mem_table *table, const struct devices *devices);
void mem_table_close(struct mem_table *table);

/*
 * Register memory for peers that reach it by one of a set of devices, without entering it: it is not found as origin
 * memory. Memory that can be moved (in_place.h) has been counted in job->attached_private before. The region's base and
 * size are given, the rest is zero and is filled in. ERRORS: ORIEL_ERR_MEMORY.
 */
int mem_open_to_peers(struct mem_table *table, uint32_t devices, struct mem_region *region);

/*
 * Register memory for peers (and local use), as mem_open_to_peers does, and enter it. Memory that may not be written is
 * registered for reading.
 * ERRORS: ORIEL_ERR_MEMORY.
 */
int mem_add(struct mem_table *table, uint32_t devices, struct mem_region *region);

/*
 * Enter memory that mem_forget has taken out and that is still registered, and register it with those of the devices
 * that do not have it yet. ERRORS: ORIEL_ERR_MEMORY; the memory is still registered as it was.
 */
int mem_add_again(struct mem_table *table, uint32_t devices, struct mem_region *region);

/* Whether some of the bytes are those of a region that has been entered. size_bytes is not 0. */
bool mem_has_some(struct mem_table *table, const void *base, size_t size_bytes);

/* Take the region out of the table; mem_deregister does the rest, later. *registration becomes all that it has. */
void mem_forget(struct mem_table *table, struct registration *registration);
void mem_deregister(const struct mem_table *table, struct registration *registration);

/*
 * The key for a device of registered memory that holds all of [base, base + size_bytes), size_bytes > 0, and may be
 * written if `write`; else 0. Memory that is registered, but not with that device, is registered with it now. *seen
 * becomes what was found.
 */
uint32_t mem_look(struct mem_table *table, uint32_t device, const void *base, size_t size_bytes, bool write,
                  struct mem_seen *seen);

/* Whether *seen has that memory, and *lkey, which may be 0. */
static inline bool mem_seen_has(const struct mem_table *table, uint32_t device, const void *base, size_t size_bytes,
                                bool write, const struct mem_seen *seen, uint32_t *lkey)
{
	uintptr_t first = (uintptr_t)base;

	*lkey = seen->lkey;
	/* A region is taken out by a thread that knows that nobody uses it; its own next look sees that. Pairs with changed(). */
	return seen->version == counter_load(&table->version) && seen->device == device && first >= seen->first &&
	       first <= seen->last && size_bytes - 1 <= seen->last - first && !(write && seen->read_only);
}

/* The same; most operations of a window are on the same memory as the last one. */
static inline uint32_t mem_find(struct mem_table *table, uint32_t device, const void *base, size_t size_bytes,
                                bool write, struct mem_seen *seen)
{
	uint32_t lkey;

	return mem_seen_has(table, device, base, size_bytes, write, seen, &lkey)
	           ? lkey
	           : mem_look(table, device, base, size_bytes, write, seen);
}

#endif
