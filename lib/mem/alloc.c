// SPDX-License-Identifier: BSD-2-Clause
/* See alloc.h. */
#include "mem/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "pages/memory_file.h"
#include "base/util.h"
#include "job/job.h"
#include "mem/mem.h"

static void release(struct allocation *allocation)
{
	unmap_memory_file(allocation->base, allocation->size_bytes, allocation->fd);
	free(allocation);
}

static int map_and_register(struct oriel_job *job, struct allocation *made)
{
	struct mem_region region = { .size_bytes = made->size_bytes };
	int rc = map_memory_file("oriel-alloc", made->size_bytes, &made->base, &made->fd);

	if (rc) {
		free(made);
		return rc;
	}
	region.base = (uintptr_t)made->base;
	rc = mem_add(&job->mems, devices_without_pinning(&job->devices), &region);
	made->registration = region.registration;
	if (rc)
		release(made);
	return rc;
}

static void enter(struct oriel_job *job, struct allocation *made)
{
	pthread_mutex_lock(&job->lock);
	made->next = job->allocations.list;
	job->allocations.list = made;
	job->holdings.mems++;
	pthread_mutex_unlock(&job->lock);
}

void *oriel_alloc(oriel_job *job, size_t size_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct allocation *made;

	if (job_check(job, "oriel_alloc"))
		return NULL;
	if (size_bytes == 0 || size_bytes > SIZE_MAX - page) {
		err_set(ORIEL_ERR_ARG, "oriel_alloc: size_bytes is %zu", size_bytes);
		return NULL;
	}
	made = calloc(1, sizeof(*made));
	if (!made) {
		err_set(ORIEL_ERR_MEMORY, "oriel_alloc: out of memory");
		return NULL;
	}
	made->size_bytes = round_up(size_bytes, page);
	if (map_and_register(job, made)) {
		err_in(ORIEL_ERR_MEMORY, "oriel_alloc");
		return NULL;
	}
	enter(job, made);
	return made->base;
}

static struct allocation *take_out(struct oriel_job *job, const void *base)
{
	struct allocation **at = &job->allocations.list, *found;

	pthread_mutex_lock(&job->lock);
	while (*at && (*at)->base != base)
		at = &(*at)->next;
	found = *at;
	if (found) {
		*at = found->next;
		job->holdings.mems--;
	}
	pthread_mutex_unlock(&job->lock);
	return found;
}

int oriel_free(oriel_job *job, void *memory)
{
	struct allocation *found;
	int rc = job_check(job, "oriel_free");

	if (rc || !memory)
		return rc;
	found = take_out(job, memory);
	if (!found)
		return err_set(ORIEL_ERR_ARG, "oriel_free: %p is no memory of oriel_alloc, or has been released", memory);
	mem_forget(&job->mems, &found->registration);
	mem_deregister(&job->mems, &found->registration);
	release(found);
	return 0;
}

bool alloc_holds(struct oriel_job *job, const void *base, size_t size_bytes)
{
	bool holds = false;

	pthread_mutex_lock(&job->lock);
	for (const struct allocation *at = job->allocations.list; at && !holds; at = at->next) {
		size_t offset = (uintptr_t)base - (uintptr_t)at->base;

		holds = offset < at->size_bytes && size_bytes <= at->size_bytes - offset;
	}
	pthread_mutex_unlock(&job->lock);
	return holds;
}
