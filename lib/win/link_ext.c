// SPDX-License-Identifier: BSD-2-Clause
/* link_ext.c - rarely used fields of a link, and the count of links; see link.h. */
#include <stdlib.h>

#include "job/job.h"
#include "win/link.h"

void link_count_bytes(struct oriel_job *job, int links, ptrdiff_t bytes)
{
	pthread_mutex_lock(&job->lock);
	job->holdings.links += (uint32_t)links;
	job->holdings.link_bytes += (size_t)bytes;
	pthread_mutex_unlock(&job->lock);
}

bool link_make_ext(struct link *link)
{
	struct link_ext *ext;

	if (link->ext)
		return true;
	ext = calloc(1, sizeof(*ext));
	if (!ext)
		return false;
	ext->there = link->base;
	ext->words_rkey = link->rkey;
	__atomic_store_n(&link->ext, ext, __ATOMIC_RELEASE); /* pairs with link_ext */
	link_count_bytes(link->peer->job, 0, sizeof(*ext));
	return true;
}
