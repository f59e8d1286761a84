// SPDX-License-Identifier: BSD-2-Clause
/* kept_memory.c - see kept_memory.h. */
#include "job/kept_memory.h"

#include <string.h>

#include "base/memory_file.h"
#include "job/job.h"

static void release(struct oriel_job *job, struct kept_piece piece)
{
	devices_deregister(&job->devices, &piece.registration);
	unmap_memory_file(piece.base, piece.size_bytes, piece.fd);
}

/* The caller holds job->lock. */
static struct kept_piece take_out(struct kept_memory *kept, uint32_t at)
{
	struct kept_piece piece = kept->list[at];

	kept->count--;
	memmove(&kept->list[at], &kept->list[at + 1], (kept->count - at) * sizeof(piece));
	return piece;
}

bool kept_memory_take(struct oriel_job *job, size_t size_bytes, struct kept_piece *piece)
{
	struct kept_memory *kept = &job->kept_memory;
	bool found = false;

	pthread_mutex_lock(&job->lock);
	for (uint32_t i = kept->count; i-- > 0 && !found;) {
		found = kept->list[i].size_bytes == size_bytes;
		if (found)
			*piece = take_out(kept, i);
	}
	pthread_mutex_unlock(&job->lock);
	if (found)
		zero_memory_file(piece->base, piece->size_bytes, piece->fd);
	return found;
}

static bool keep(struct oriel_job *job, const struct kept_piece *piece)
{
	struct kept_memory *kept = &job->kept_memory;
	bool room;

	pthread_mutex_lock(&job->lock);
	room = kept->count < KEPT_PIECES_MAX;
	if (room)
		kept->list[kept->count++] = *piece;
	pthread_mutex_unlock(&job->lock);
	return room;
}

/* Whether a device holds on to its pages. */
static bool is_pinned(const struct devices *devices, const struct kept_piece *piece)
{
	bool pinned = false;

	for (uint32_t i = 0; i < devices->count; i++)
		pinned |= piece->registration.mr[i] && !device_lends(&devices->list[i]);
	return pinned;
}

static bool may_be_kept(const struct oriel_job *job, const struct kept_piece *piece)
{
	if (piece->size_bytes <= KEPT_WITH_PAGES_BYTES_MAX)
		return true;
	return piece->size_bytes <= KEPT_BYTES_MAX && !is_pinned(&job->devices, piece) && !memory_files_are_filled();
}

void kept_memory_give(struct oriel_job *job, const struct kept_piece *piece)
{
	if (!may_be_kept(job, piece)) {
		release(job, *piece);
		return;
	}
	if (piece->size_bytes > KEPT_WITH_PAGES_BYTES_MAX)
		empty_memory_file(piece->fd, piece->size_bytes);
	while (!keep(job, piece))
		kept_memory_release_one(job);
}

bool kept_memory_release_one(struct oriel_job *job)
{
	struct kept_piece piece = { .base = NULL };

	pthread_mutex_lock(&job->lock);
	if (job->kept_memory.count > 0)
		piece = take_out(&job->kept_memory, 0);
	pthread_mutex_unlock(&job->lock);
	if (piece.base)
		release(job, piece);
	return piece.base;
}
