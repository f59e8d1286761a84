// SPDX-License-Identifier: BSD-2-Clause
/* See mem.h. */
#include "mem/mem.h"

#include "base/settings.h"
#include "job/job.h"
#include "pages/own_pages.h"
#include "pages/share_in_place.h"

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
