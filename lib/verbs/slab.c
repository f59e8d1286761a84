// SPDX-License-Identifier: BSD-2-Clause
/* slab.c - see slab.h. */
#include "verbs/slab.h"

#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs/device.h"
#include "base/err.h"
#include "base/memory_file.h"
#include "base/util.h"

void slabs_init(struct slabs *slabs, struct device *device)
{
	memset(slabs, 0, sizeof(*slabs));
	slabs->device = device;
	pthread_mutex_init(&slabs->lock, NULL);
}

void slabs_close(struct slabs *slabs)
{
	for (uint32_t i = 0; i < slabs->count; i++) {
		device_deregister(slabs->device, slabs->list[i].mr);
		munmap(slabs->list[i].base, slabs->list[i].size_bytes);
		close(slabs->list[i].fd);
	}
	free(slabs->list);
	pthread_mutex_destroy(&slabs->lock);
}

static int slab_map(struct slabs *slabs, struct slab *slab, size_t size_bytes)
{
	void *base;
	int rc;

	slab->size_bytes = size_bytes;
	slab->used_bytes = 0;
	rc = map_memory_file("oriel-slab", size_bytes, &base, &slab->fd);
	if (rc)
		return rc;
	slab->base = base;
	slab->mr = device_register(slabs->device, slab->base, size_bytes,
	                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	                               IBV_ACCESS_REMOTE_ATOMIC);
	if (slab->mr)
		return 0;
	munmap(slab->base, size_bytes);
	close(slab->fd);
	return ORIEL_ERR_MEMORY;
}

static int slab_add(struct slabs *slabs, size_t need_bytes)
{
	size_t size = SLAB_FIRST_BYTES;
	int rc;

	if (slabs->count == SLABS_MAX)
		return err_set(ORIEL_ERR_LIMIT, "more than %d slabs of registered memory", SLABS_MAX);
	if (!grow_array(&slabs->list, &slabs->capacity, slabs->count + 1, sizeof(*slabs->list)))
		return err_set(ORIEL_ERR_MEMORY, "out of memory for the list of slabs");
	while (size < slabs->total_bytes / 4 && size < SLAB_LARGEST_BYTES)
		size *= 2;
	while (size < need_bytes)
		size *= 2;
	rc = slab_map(slabs, &slabs->list[slabs->count], size);
	if (rc)
		return rc;
	slabs->count++;
	slabs->total_bytes += size;
	return 0;
}

static int slab_take(struct slabs *slabs, size_t size_bytes, struct piece *piece)
{
	struct slab *slab = slabs->count ? &slabs->list[slabs->count - 1] : NULL;

	if (!slab || slab->size_bytes - slab->used_bytes < size_bytes) {
		int rc = slab_add(slabs, size_bytes);

		if (rc)
			return rc;
		slab = &slabs->list[slabs->count - 1];
	}
	*piece = (struct piece){ slab->base + slab->used_bytes, slab->mr->lkey, slab->mr->rkey };
	slab->used_bytes += size_bytes;
	return 0;
}

int slab_alloc(struct slabs *slabs, size_t size_bytes, struct piece *piece)
{
	int rc;

	pthread_mutex_lock(&slabs->lock);
	rc = slab_take(slabs, round_up(size_bytes, SLAB_ALIGN), piece);
	pthread_mutex_unlock(&slabs->lock);
	return rc;
}
