// SPDX-License-Identifier: BSD-2-Clause
/* See alloc.h. */
#include "mem/alloc.h"

#include <string.h>

#include "job/job.h"
#include "pages/memory_file.h"

static void release(struct oriel_job *job, struct cached_window piece)
{
	devices_deregister(&job->devices, &piece.registration);
	unmap_memory_file(piece.base, piece.size_bytes, piece.fd);
}

/* The caller holds job->lock. */
static struct cached_window take_out(struct window_cache *cache, uint32_t at)
{
	struct cached_window piece = cache->list[at];

	cache->count--;
	memmove(&cache->list[at], &cache->list[at + 1], (cache->count - at) * sizeof(piece));
	return piece;
}

bool window_cache_take(struct oriel_job *job, size_t size_bytes, struct cached_window *piece)
{
	struct window_cache *cache = &job->window_cache;
	bool found = false;

	pthread_mutex_lock(&job->lock);
	for (uint32_t i = cache->count; i-- > 0 && !found;) {
		found = cache->list[i].size_bytes == size_bytes;
		if (found)
			*piece = take_out(cache, i);
	}
	pthread_mutex_unlock(&job->lock);
	if (found)
		zero_memory_file(piece->base, piece->size_bytes, piece->fd);
	return found;
}

static bool keep(struct oriel_job *job, const struct cached_window *piece)
{
	struct window_cache *cache = &job->window_cache;
	bool room;

	pthread_mutex_lock(&job->lock);
	room = cache->count < CACHED_WINDOWS_MAX;
	if (room)
		cache->list[cache->count++] = *piece;
	pthread_mutex_unlock(&job->lock);
	return room;
}

static bool is_pinned(const struct devices *devices, const struct cached_window *piece)
{
	bool pinned = false;

	for (uint32_t i = 0; i < devices->count; i++)
		pinned |= piece->registration.mr[i] && !device_maps_memory(&devices->list[i]);
	return pinned;
}

static bool may_be_cached(const struct oriel_job *job, const struct cached_window *piece)
{
	if (piece->size_bytes <= CACHED_WITH_PAGES_BYTES_MAX)
		return true;
	return piece->size_bytes <= CACHED_BYTES_MAX && !is_pinned(&job->devices, piece) && !memory_files_are_filled();
}

void window_cache_give(struct oriel_job *job, const struct cached_window *piece)
{
	if (!may_be_cached(job, piece)) {
		release(job, *piece);
		return;
	}
	if (piece->size_bytes > CACHED_WITH_PAGES_BYTES_MAX)
		empty_memory_file(piece->fd, piece->size_bytes);
	while (!keep(job, piece))
		window_cache_release_one(job);
}

bool window_cache_release_one(struct oriel_job *job)
{
	struct cached_window piece = { .base = NULL };

	pthread_mutex_lock(&job->lock);
	if (job->window_cache.count > 0)
		piece = take_out(&job->window_cache, 0);
	pthread_mutex_unlock(&job->lock);
	if (piece.base)
		release(job, piece);
	return piece.base;
}
