// SPDX-License-Identifier: BSD-2-Clause
/* win.c - functions of a window and its links that call no others; see win.h and link.h */
#include "win/win.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "job/group.h"
#include "job/job.h"
#include "win/link.h"

void win_make_label(struct oriel_win *win)
{
	const char *name = win->info.name;

	snprintf(win->label, sizeof(win->label), *name ? "window %llu (%s)" : "window %llu",
	         (unsigned long long)win->info.number, name);
}

int win_world_rank(const struct oriel_win *win, int rank)
{
	return group_world_rank(win->group, rank);
}

int win_peer_error(const struct oriel_win *win, int rank)
{
	char text[DEATH_TEXT_BYTES];
	int world = win_world_rank(win, rank);

	if (!rank_is_dead(win->job, world, text))
		return err_set(ORIEL_ERR_PEER,
		               "%s: rank %d (rank %d of the job) does not have the window (any more): it could not make it "
		               "in time, or has freed it after an error",
		               win->label, rank, world);
	if (rank_has_no_route(win->job, world))
		return err_set_route("%s: rank %d (rank %d of the job) cannot be reached: %s", win->label, rank, world, text);
	return err_set(ORIEL_ERR_PEER, "%s: rank %d (rank %d of the job) is dead or out of reach: %s", win->label, rank,
	               world, text);
}

int win_refuse(const struct oriel_win *win, const char *call)
{
	return handle_refuse(win, call, "window");
}

void fence_failed_id(const struct oriel_win *win, uint8_t id[16])
{
	coll_id_within(id, win->id, 0, COLL_FENCE_FAILED);
}

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
