// SPDX-License-Identifier: BSD-2-Clause
/* See mem.h. */
#include "mem/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/settings.h"
#include "base/util.h"
#include "job/job.h"
#include "pages/own_pages.h"
#include "pages/share_in_place.h"

void mem_table_init(struct mem_table *table, const struct devices *devices)
{
	memset(table, 0, sizeof(*table));
	table->devices = devices;
	table->version = 1;
	pthread_rwlock_init(&table->places, NULL);
	pthread_rwlock_init(&table->lock, NULL);
}

void mem_table_close(struct mem_table *table)
{
	free(table->regions);
	pthread_rwlock_destroy(&table->lock);
	pthread_rwlock_destroy(&table->places);
}

/* Returns the index of the first region above the address. The caller holds the lock. */
static uint32_t first_above(const struct mem_table *table, uintptr_t address)
{
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->regions[middle].base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct memory_access access_of(const struct mem_region *region)
{
	const unsigned read = IBV_ACCESS_REMOTE_READ;
	const unsigned all = read | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

	return (struct memory_access){ .base = (void *)region->base,
		                           .size_bytes = region->size_bytes,
		                           .access = region->read_only ? read : all };
}

static int register_for_peers(const struct devices *devices, uint32_t set, struct mem_region *region)
{
	struct memory_access memory = access_of(region);
	int error = devices_try_register(devices, set, &memory, &region->registration);

	if (error == 0)
		return 0;
	region->read_only = error == EFAULT || error == EACCES || error == EPERM;
	memory = access_of(region);
	return devices_register(devices, set, &memory, &region->registration);
}

/* Registers memory. Moved memory stays where it is while any of it is registered. */
static int register_held(const struct devices *devices, uint32_t set, struct mem_region *region)
{
	void *base = (void *)region->base;
	bool holds = share_hold(base, region->size_bytes);
	int rc = register_for_peers(devices, set, region);

	region->registration.holds = rc == 0 && holds;
	if (rc && holds)
		share_let_go(base, region->size_bytes);
	return rc;
}

int mem_open_to_peers(struct mem_table *table, uint32_t devices, struct mem_region *region)
{
	int rc;

	pthread_rwlock_rdlock(&table->places);
	rc = register_held(table->devices, devices, region);
	pthread_rwlock_unlock(&table->places);
	return rc;
}

void mem_deregister(const struct mem_table *table, struct registration *registration)
{
	const struct ibv_mr *first = first_region(registration);
	const struct ibv_mr mr = first ? *first : (struct ibv_mr){ .addr = NULL };

	devices_deregister(table->devices, registration);
	if (registration->holds)
		share_let_go(mr.addr, mr.length);
	registration->holds = false;
}

/* Invalidates the threads' *seen. The caller holds the lock for writing. */
static void changed(struct mem_table *table)
{
	counter_store(&table->version, table->version + 1); /* pairs with the counter_load in mem_find */
}

static int insert(struct mem_table *table, const struct mem_region *region)
{
	uint32_t at;

	if (!grow_array(&table->regions, &table->capacity, table->count + 1, sizeof(*region)))
		return err_set(ORIEL_ERR_MEMORY, "out of memory for the table of %u registered regions", table->count);
	at = first_above(table, region->base);
	memmove(&table->regions[at + 1], &table->regions[at], (table->count - at) * sizeof(*region));
	table->regions[at] = *region;
	table->count++;
	changed(table);
	if (region->size_bytes > table->largest_bytes)
		table->largest_bytes = region->size_bytes;
	return 0;
}

static int insert_locking(struct mem_table *table, const struct mem_region *region)
{
	int rc;

	pthread_rwlock_wrlock(&table->lock);
	rc = insert(table, region);
	pthread_rwlock_unlock(&table->lock);
	return rc;
}

/* The caller holds table->places. */
static int add(struct mem_table *table, uint32_t devices, struct mem_region *region)
{
	int rc = register_held(table->devices, devices, region);

	if (rc)
		return rc;
	rc = insert_locking(table, region);
	if (rc)
		mem_deregister(table, &region->registration);
	return rc;
}

int mem_add(struct mem_table *table, uint32_t devices, struct mem_region *region)
{
	int rc;

	pthread_rwlock_rdlock(&table->places);
	rc = add(table, devices, region);
	pthread_rwlock_unlock(&table->places);
	return rc;
}

int mem_add_again(struct mem_table *table, uint32_t devices, struct mem_region *region)
{
	int rc = register_for_peers(table->devices, devices, region);

	return rc ? rc : insert_locking(table, region);
}

/* Returns whether both are one registration, devices added later aside. */
static bool is_same(const struct registration *a, const struct registration *b)
{
	bool same = false;

	for (uint32_t i = 0; i < DEVICES_MAX; i++)
		same |= a->mr[i] && a->mr[i] == b->mr[i];
	return same;
}

void mem_forget(struct mem_table *table, struct registration *registration)
{
	pthread_rwlock_wrlock(&table->lock);
	for (uint32_t i = 0; i < table->count; i++) {
		if (!is_same(&table->regions[i].registration, registration))
			continue;
		*registration = table->regions[i].registration;
		table->count--;
		changed(table);
		memmove(&table->regions[i], &table->regions[i + 1], (table->count - i) * sizeof(*table->regions));
		break;
	}
	pthread_rwlock_unlock(&table->lock);
}

static uintptr_t last_byte(const struct mem_region *region)
{
	return region->base + region->size_bytes - 1;
}

/*
 * Returns a region that holds all of it, writable if `write`, or NULL. Walks down from `above`, as
 * far as the largest region could reach.
 */
static const struct mem_region *region_of(const struct mem_table *table, uint32_t above, const struct mem_use *use)
{
	for (uint32_t i = above; i-- > 0;) {
		const struct mem_region *region = &table->regions[i];
		size_t offset = use->base - region->base;

		if (offset >= table->largest_bytes)
			return NULL;
		if (offset < region->size_bytes && region->size_bytes - offset >= use->size_bytes &&
		    !(use->write && region->read_only))
			return region;
	}
	return NULL;
}

/*
 * Sets *seen to the gap between regions around the bytes. Returns false if a region has some of
 * them.
 */
static bool see_gap(const struct mem_table *table, uint32_t above, uintptr_t base, size_t size_bytes,
                    struct mem_seen *seen)
{
	seen->first = 0;
	seen->last = above < table->count ? table->regions[above].base - 1 : UINTPTR_MAX;
	for (uint32_t i = above; i-- > 0;) {
		const struct mem_region *region = &table->regions[i];
		uintptr_t furthest =
			base - region->base >= table->largest_bytes ? region->base + table->largest_bytes - 1 : last_byte(region);

		if (furthest >= base)
			return false;
		if (furthest >= seen->first)
			seen->first = furthest + 1;
		if (base - region->base >= table->largest_bytes)
			break; /* lower regions end before */
	}
	return size_bytes - 1 <= seen->last - base;
}

/* Walks down as region_of does. */
static bool has_some(const struct mem_table *table, uintptr_t base, uintptr_t last)
{
	for (uint32_t i = first_above(table, last); i-- > 0;) {
		const struct mem_region *region = &table->regions[i];

		if (last_byte(region) >= base)
			return true;
		if (base - region->base >= table->largest_bytes)
			return false;
	}
	return false;
}

bool mem_has_some(struct mem_table *table, const void *base, size_t size_bytes)
{
	bool some;

	pthread_rwlock_rdlock(&table->lock);
	some = has_some(table, (uintptr_t)base, (uintptr_t)base + size_bytes - 1);
	pthread_rwlock_unlock(&table->lock);
	return some;
}

static void see(const struct mem_table *table, const struct mem_region *region, struct mem_seen *seen)
{
	const struct ibv_mr *mr = region->registration.mr[seen->device];

	seen->version = table->version;
	seen->first = region->base;
	seen->last = last_byte(region);
	seen->lkey = mr ? mr->lkey : 0;
	seen->read_only = region->read_only;
}

/* Returns the region, or NULL. The caller holds the lock. */
static const struct mem_region *look_locked(const struct mem_table *table, const struct mem_use *use,
                                            struct mem_seen *seen)
{
	uint32_t above = first_above(table, use->base);
	const struct mem_region *region = region_of(table, above, use);

	seen->version = table->version;
	if (region)
		see(table, region, seen);
	else if (!see_gap(table, above, use->base, use->size_bytes, seen))
		seen->version = 0;
	return region;
}

/*
 * Registers memory's region with the device too; on failure seen->lkey stays 0. Peers get access as
 * well: cached memory may serve a later window.
 */
static void register_late(struct mem_table *table, const struct mem_use *use, struct mem_seen *seen)
{
	const struct mem_region *found;

	pthread_rwlock_wrlock(&table->lock);
	found = region_of(table, first_above(table, use->base), use);
	if (found) {
		struct registration *registration = &table->regions[found - table->regions].registration;
		const struct memory_access memory = access_of(found);

		if (devices_try_register(table->devices, 1u << seen->device, &memory, registration) == 0)
			changed(table);
		see(table, found, seen);
	}
	pthread_rwlock_unlock(&table->lock);
}

uint32_t mem_look(struct mem_table *table, const struct mem_use *use, struct mem_seen *seen)
{
	const struct mem_region *region;

	*seen = (struct mem_seen){ .device = use->device };
	pthread_rwlock_rdlock(&table->lock);
	region = look_locked(table, use, seen);
	pthread_rwlock_unlock(&table->lock);
	if (region && !seen->lkey)
		register_late(table, use, seen);
	return seen->lkey;
}

/* Registers with every device: the program has asked. */
static int add_for_program(struct oriel_job *job, void *base, size_t size_bytes, struct registration *registration)
{
	struct mem_region region = { .base = (uintptr_t)base, .size_bytes = size_bytes };
	int rc = mem_add(&job->mems, devices_all(&job->devices), &region);

	*registration = region.registration;
	return rc;
}

static struct oriel_mem *mem_handle(struct oriel_job *job, const struct registration *registration)
{
	struct oriel_mem *mem = handle_new(HANDLE_MEM, sizeof(*mem));

	if (!mem)
		return NULL;
	mem->job = job;
	mem->registration = *registration;
	pthread_mutex_lock(&job->lock);
	job->holdings.mems++;
	pthread_mutex_unlock(&job->lock);
	return mem;
}

int oriel_mem_register(oriel_job *job, void *base, size_t size_bytes, oriel_mem **mem)
{
	struct registration registration;
	int rc = job_check(job, "oriel_mem_register");

	if (rc)
		return rc;
	if (!mem || !base || size_bytes == 0)
		return err_set(ORIEL_ERR_ARG, "oriel_mem_register: base is %p, size_bytes %zu, mem %p", base, size_bytes,
		               (void *)mem);
	rc = add_for_program(job, base, size_bytes, &registration);
	if (rc)
		return err_in(rc, "oriel_mem_register");
	*mem = mem_handle(job, &registration);
	if (*mem)
		return 0;
	mem_forget(&job->mems, &registration);
	mem_deregister(&job->mems, &registration);
	return err_set(ORIEL_ERR_MEMORY, "oriel_mem_register: out of memory");
}

int oriel_mem_deregister(oriel_mem **mem)
{
	struct oriel_job *job;

	if (!mem || !handle_valid(HANDLE_MEM, *mem) || !handle_valid(HANDLE_JOB, (*mem)->job))
		return handle_refuse(mem ? *mem : NULL, "oriel_mem_deregister", "memory");
	job = (*mem)->job;
	mem_forget(&job->mems, &(*mem)->registration);
	mem_deregister(&job->mems, &(*mem)->registration);
	pthread_mutex_lock(&job->lock);
	job->holdings.mems--;
	pthread_mutex_unlock(&job->lock);
	handle_release(HANDLE_MEM, *mem);
	*mem = NULL;
	return 0;
}

static bool is_registered_in_part(struct oriel_job *job, const void *base, size_t size_bytes)
{
	struct page_range pages = pages_of(base, size_bytes);

	return mem_has_some(&job->mems, (void *)pages.first, pages.size_bytes) ||
	       __atomic_load_n(&job->attached_private, __ATOMIC_RELAXED) > 0;
}

static const char *hindrance(struct oriel_job *job, enum in_place_wish wish, void *base, size_t size_bytes,
                             char room[SHARE_WHY_BYTES])
{
	if (!job->needs_progress || job->size == 1)
		return "of use to nobody: no rank shares memory with this one";
	if (!is_shared_in_place(base, size_bytes) && is_registered_in_part(job, base, size_bytes))
		return "registered already, in part or whole, or a dynamic window has memory attached";
	return share_in_place(base, size_bytes, wish == IN_PLACE_IF_WORTH, room);
}

bool in_place_move(struct oriel_job *job, enum in_place_wish wish, void *base, size_t size_bytes)
{
	char room[SHARE_WHY_BYTES];
	const char *why;

	if (wish == IN_PLACE_NEVER || size_bytes == 0)
		return false;
	pthread_rwlock_wrlock(&job->mems.places); /* no other thread is registering it */
	why = hindrance(job, wish, base, size_bytes, room);
	pthread_rwlock_unlock(&job->mems.places);
	if (why)
		tell(job->rank, "%zu bytes of window memory at %p stay private, though sharing is asked for: the memory is %s",
		     size_bytes, base, why);
	return !why;
}
