// SPDX-License-Identifier: BSD-2-Clause
/* link_rest.c - what few links need, and the count of what links take; see link.h. */
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

bool link_make_rest(struct link *link)
{
	struct link_rest *rest;

	if (link->rest)
		return true;
	rest = calloc(1, sizeof(*rest));
	if (!rest)
		return false;
	rest->there = link->base;
	rest->words_rkey = link->rkey;
	__atomic_store_n(&link->rest, rest, __ATOMIC_RELEASE); /* pairs with link_rest */
	link_count_bytes(link->peer->job, 0, sizeof(*rest));
	return true;
}
