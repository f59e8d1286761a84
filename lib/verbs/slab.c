// SPDX-License-Identifier: BSD-2-Clause
/* See slab.h. */
#include "verbs/slab.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/util.h"
#include "pages/memory_file.h"

void slabs_init(struct slabs *slabs, const struct devices *devices)
{
	memset(slabs, 0, sizeof(*slabs));
	slabs->devices = devices;
	pthread_mutex_init(&slabs->lock, NULL);
}

void slabs_close(struct slabs *slabs)
{
	for (uint32_t i = 0; i < slabs->count; i++) {
		devices_deregister(slabs->devices, &slabs->list[i].registration);
		unmap_memory_file(slabs->list[i].base, slabs->list[i].size_bytes, slabs->list[i].fd);
	}
	free(slabs->list);
	pthread_mutex_destroy(&slabs->lock);
}

static int slab_map(struct slabs *slabs, struct slab *slab, size_t size_bytes)
{
	struct memory_access all = { .size_bytes = size_bytes,
		                         .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		                                   IBV_ACCESS_REMOTE_ATOMIC };
	int rc;

	slab->size_bytes = size_bytes;
	slab->used_bytes = 0;
	rc = map_memory_file("oriel-slab", size_bytes, &all.base, &slab->fd);
	if (rc)
		return rc;
	slab->base = all.base;
	slab->registration = (struct registration){ .holds = false };
	rc = devices_register(slabs->devices, devices_all(slabs->devices), &all, &slab->registration);
	if (rc == 0)
		return 0;
	unmap_memory_file(slab->base, size_bytes, slab->fd);
	return rc;
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

static void fill_keys(const struct slabs *slabs, const struct slab *slab, struct piece *piece)
{
	for (uint32_t i = 0; i < slabs->devices->count; i++) {
		const struct ibv_mr *mr = slab->registration.mr[i];

		piece->keys[i] = (struct piece_keys){ mr->lkey, mr->rkey };
	}
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
	*piece = (struct piece){ .addr = slab->base + slab->used_bytes };
	fill_keys(slabs, slab, piece);
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

uint32_t slab_rkey(struct slabs *slabs, const void *addr, uint32_t device)
{
	uint32_t rkey = 0;

	pthread_mutex_lock(&slabs->lock);
	for (uint32_t i = 0; i < slabs->count; i++) {
		const struct slab *slab = &slabs->list[i];

		if ((uintptr_t)addr - (uintptr_t)slab->base < slab->size_bytes)
			rkey = slab->registration.mr[device]->rkey;
	}
	pthread_mutex_unlock(&slabs->lock);
	return rkey;
}

/* A peer that reads the root meanwhile finds a wrong check, and reads again. */
static void publish(struct segment_ref *ref, const void *base, uint32_t rkey)
{
	ref->check = 0;
	ref->addr = (uint64_t)(uintptr_t)base;
	ref->rkey = rkey;
	ref->check = segment_check(ref);
}

int table_add_segment(struct slabs *slabs, uint32_t device, struct segment_ref *ref, size_t size_bytes, void **base)
{
	struct piece piece;
	int rc;

	if (*base)
		return 0;
	rc = slab_alloc(slabs, size_bytes, &piece);
	if (rc)
		return rc;
	*base = piece.addr;
	publish(ref, piece.addr, piece.keys[device].rkey);
	return 0;
}

void table_set_device(struct slabs *slabs, uint32_t device, struct table_root *root, void *const base[TABLE_SEGMENTS])
{
	for (uint32_t i = 0; i < TABLE_SEGMENTS; i++) {
		if (base[i])
			publish(&root->segment[i], base[i], slab_rkey(slabs, base[i], device));
	}
}
