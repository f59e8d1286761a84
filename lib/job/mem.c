// SPDX-License-Identifier: BSD-2-Clause
/* mem.c - see mem.h. */
#include "job/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/device.h"
#include "base/err.h"
#include "job/job.h"
#include "base/util.h"

void mem_table_init(struct mem_table *table, const struct device *device)
{
	memset(table, 0, sizeof(*table));
	table->device = device;
	pthread_rwlock_init(&table->lock, NULL);
}

void mem_table_close(struct mem_table *table)
{
	free(table->regions);
	pthread_rwlock_destroy(&table->lock);
}

/* The first region whose base is above the address. The caller holds the lock. */
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

static struct ibv_mr *register_for_peers(const struct device *device, void *base, size_t size_bytes, bool *read_only)
{
	unsigned read = IBV_ACCESS_REMOTE_READ;
	unsigned all = read | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_mr *mr = device->functions->reg_mr(device->pd, base, size_bytes, (int)all);

	*read_only = false;
	if (mr || (errno != EFAULT && errno != EACCES && errno != EPERM))
		return mr ? mr : device_register(device, base, size_bytes, all);
	*read_only = true;
	return device_register(device, base, size_bytes, read);
}

void mem_deregister(const struct mem_table *table, struct ibv_mr *mr)
{
	device_deregister(table->device, mr);
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
	if (region->size_bytes > table->largest_bytes)
		table->largest_bytes = region->size_bytes;
	return 0;
}

int mem_add(struct mem_table *table, void *base, size_t size_bytes, struct ibv_mr **mr, bool *read_only)
{
	struct mem_region region = { .base = (uintptr_t)base, .size_bytes = size_bytes };
	int rc;

	region.mr = register_for_peers(table->device, base, size_bytes, &region.read_only);
	if (!region.mr)
		return ORIEL_ERR_MEMORY;
	pthread_rwlock_wrlock(&table->lock);
	rc = insert(table, &region);
	pthread_rwlock_unlock(&table->lock);
	if (rc) {
		mem_deregister(table, region.mr);
		return rc;
	}
	*mr = region.mr;
	*read_only = region.read_only;
	return 0;
}

void mem_forget(struct mem_table *table, const struct ibv_mr *mr)
{
	pthread_rwlock_wrlock(&table->lock);
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->regions[i].mr != mr)
			continue;
		table->count--;
		memmove(&table->regions[i], &table->regions[i + 1], (table->count - i) * sizeof(*table->regions));
		break;
	}
	pthread_rwlock_unlock(&table->lock);
}

/*
 * Walk down from the last region that begins at or below the address; none further away than the
 * largest can hold it.
 */
static uint32_t find_locked(const struct mem_table *table, uintptr_t base, size_t size_bytes, bool write)
{
	for (uint32_t i = first_above(table, base); i-- > 0;) {
		const struct mem_region *region = &table->regions[i];
		size_t offset = base - region->base;

		if (offset >= table->largest_bytes)
			return 0;
		if (offset < region->size_bytes && region->size_bytes - offset >= size_bytes && !(write && region->read_only))
			return region->mr->lkey;
	}
	return 0;
}

uint32_t mem_find(struct mem_table *table, const void *base, size_t size_bytes, bool write)
{
	uint32_t lkey;

	pthread_rwlock_rdlock(&table->lock);
	lkey = find_locked(table, (uintptr_t)base, size_bytes, write);
	pthread_rwlock_unlock(&table->lock);
	return lkey;
}

static struct oriel_mem *mem_handle(struct oriel_job *job, struct ibv_mr *mr)
{
	struct oriel_mem *mem = handle_new(HANDLE_MEM, sizeof(*mem));

	if (!mem)
		return NULL;
	mem->job = job;
	mem->mr = mr;
	pthread_mutex_lock(&job->lock);
	job->holdings.mems++;
	pthread_mutex_unlock(&job->lock);
	return mem;
}

int oriel_mem_register(oriel_job *job, void *base, size_t size_bytes, oriel_mem **mem)
{
	struct ibv_mr *mr;
	bool read_only;
	int rc = job_check(job, "oriel_mem_register");

	if (rc)
		return rc;
	if (!mem || !base || size_bytes == 0)
		return err_set(ORIEL_ERR_ARG, "oriel_mem_register: base is %p, size_bytes %zu, mem %p", base, size_bytes,
		               (void *)mem);
	rc = mem_add(&job->mems, base, size_bytes, &mr, &read_only);
	if (rc)
		return err_in(rc, "oriel_mem_register");
	*mem = mem_handle(job, mr);
	if (*mem)
		return 0;
	mem_forget(&job->mems, mr);
	mem_deregister(&job->mems, mr);
	return err_set(ORIEL_ERR_MEMORY, "oriel_mem_register: out of memory");
}

int oriel_mem_deregister(oriel_mem **mem)
{
	struct oriel_job *job;

	if (!mem || !handle_valid(HANDLE_MEM, *mem) || !handle_valid(HANDLE_JOB, (*mem)->job))
		return err_set(ORIEL_ERR_HANDLE, "oriel_mem_deregister: the handle is null, freed, or no registered memory");
	job = (*mem)->job;
	mem_forget(&job->mems, (*mem)->mr);
	mem_deregister(&job->mems, (*mem)->mr);
	pthread_mutex_lock(&job->lock);
	job->holdings.mems--;
	pthread_mutex_unlock(&job->lock);
	handle_release(HANDLE_MEM, *mem);
	*mem = NULL;
	return 0;
}
