// SPDX-License-Identifier: BSD-2-Clause
/*
 * mem.h - which local memory is registered, and under which key
 *
 * Windows and oriel_mem_register enter their memory; put and get look up origins. The table is
 * sorted by address. Regions may overlap.
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

struct oriel_job;

struct mem_region {
	uintptr_t base;
	size_t size_bytes;
	struct registration registration; /* with a pinning device perhaps only from its first use as origin on */
	bool read_only;                   /* must not be the origin of a get */
};

struct mem_table {
	const struct devices *devices;
	/*
	 * Guards where memory lies. Held for reading while memory is registered for peers, until the
	 * table has it; for writing while memory is moved (mem.c). Taken before `lock`.
	 */
	pthread_rwlock_t places;
	pthread_rwlock_t lock; /* guards the rest */
	struct mem_region *regions;
	uint32_t count;
	uint32_t capacity;
	size_t largest_bytes; /* of any region ever entered */
	uint64_t version;     /* changes with the regions; counter_load; never 0 */
};

/*
 * A look-up's result, valid while `version` equals the table's: the memory from `first` to `last`
 * belongs to one region, or to none. All 0: nothing yet. Guarded by its user.
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
 * Registers memory for peers of a set of devices, without entering it. Movable memory (mem.c)
 * is already counted in job->attached_private. The caller sets the region's base and size and
 * zeroes the rest, which is filled in. ERRORS: ORIEL_ERR_MEMORY.
 */
int mem_open_to_peers(struct mem_table *table, uint32_t devices, struct mem_region *region);

/* Registers likewise, and for local use, and enters the memory. ERRORS: ORIEL_ERR_MEMORY. */
int mem_add(struct mem_table *table, uint32_t devices, struct mem_region *region);

/*
 * Enters registered memory that mem_forget has taken out, and registers it with further devices.
 * ERRORS: ORIEL_ERR_MEMORY; the registration is unchanged.
 */
int mem_add_again(struct mem_table *table, uint32_t devices, struct mem_region *region);

/* Returns whether a region has some of the bytes; size_bytes is not 0. */
bool mem_has_some(struct mem_table *table, const void *base, size_t size_bytes);

/* Takes a region out of the table; *registration, for mem_deregister, becomes the region's. */
void mem_forget(struct mem_table *table, struct registration *registration);
void mem_deregister(const struct mem_table *table, struct registration *registration);

/* Memory, not empty, that a device uses for an operation. */
struct mem_use {
	uintptr_t base;
	size_t size_bytes;
	uint32_t device; /* index */
	bool write;      /* for a get */
};

/*
 * Returns the device's key of registered memory that holds all that is used, and is writable if
 * `write`; else 0. Registers that memory with the device if only others have it. *seen becomes the
 * result.
 */
uint32_t mem_look(struct mem_table *table, const struct mem_use *use, struct mem_seen *seen);

/* Returns whether *seen covers that memory; seen->lkey is its key, or 0. */
static inline bool mem_seen_has(const struct mem_table *table, const struct mem_use *use, const struct mem_seen *seen)
{
	/*
	 * A thread that takes a region out knows that it is unused; its next look-up sees that. Pairs
	 * with changed().
	 */
	return seen->version == counter_load(&table->version) && seen->device == use->device && use->base >= seen->first &&
	       use->base <= seen->last && use->size_bytes - 1 <= seen->last - use->base && !(use->write && seen->read_only);
}

/* Returns what mem_look does, from *seen if possible. */
static inline uint32_t mem_find(struct mem_table *table, const struct mem_use *use, struct mem_seen *seen)
{
	return mem_seen_has(table, use, seen) ? seen->lkey : mem_look(table, use, seen);
}

/*
 * Moves window memory of the program in place to where peers can map it
 *
 * DESIGN NOTES
 *
 * share_in_place.h cannot know what this job has registered. A card keeps using the pages that it
 * has pinned, and a peer's access by system call could collide with the move. So memory with a
 * registered part stays where it is, unless moved before. Of dynamic windows' regions only the
 * number is known.
 *
 * mem_table.places serializes threads that register or move the same bytes.
 */

/* A window's wish: from its hint, or else from ORIEL_SHARE. */
enum in_place_wish { IN_PLACE_NEVER, IN_PLACE_IF_WORTH, IN_PLACE_ALWAYS };

/*
 * Returns whether the memory has been moved; the caller then holds it. If not, ORIEL_VERBOSE
 * reports the reason.
 */
bool in_place_move(struct oriel_job *job, enum in_place_wish wish, void *base, size_t size_bytes);

#endif
