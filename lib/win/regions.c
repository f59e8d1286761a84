// SPDX-License-Identifier: BSD-2-Clause
/* See regions.h. */
#include "win/regions.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/group.h"
#include "job/job.h"
#include "mem/alloc.h"
#include "mem/mem.h"
#include "pages/share_in_place.h"
#include "sync/wait.h"
#include "win/blocked.h"
#include "win/link.h"
#include "win/remote_regions.h"
#include "win/shared.h"
#include "win/win.h"

struct region {
	uint64_t base;
	uint64_t size_bytes;
	struct registration registration;
	struct oriel_job *job;
	uint32_t index;
	bool read_only;
	bool in_place;   /* moved for others to map (mem.h) */
	bool is_private; /* neither that, nor from oriel_alloc */
	bool leaves;     /* the thread that found it unused is releasing it; guarded by win->lock */
};

/* Regions that overlap compare equal; attached ones never overlap. */
static int compare(const void *a, const void *b)
{
	const struct region *left = a, *right = b;

	if (left->base + left->size_bytes <= right->base)
		return -1;
	return right->base + right->size_bytes <= left->base ? 1 : 0;
}

static int compare_base(const void *a, const void *b)
{
	const struct region *left = a, *right = b;

	return (left->base > right->base) - (left->base < right->base);
}

static struct region *holding(const struct regions *regions, uint64_t addr)
{
	struct region byte = { .base = addr, .size_bytes = 1 };
	struct region **found = tfind(&byte, &regions->tree, compare);

	return found ? *found : NULL;
}

static bool is_attached(const struct oriel_win *win, uint64_t addr, size_t size_bytes, bool write)
{
	for (uint64_t done = 0; done < size_bytes;) {
		const struct region *region = holding(&win->regions, addr + done);

		if (!region || (write && region->read_only))
			return false;
		done += region->size_bytes - (addr + done - region->base);
	}
	return true;
}

bool regions_use(struct oriel_win *win, uint64_t addr, size_t size_bytes, bool write)
{
	bool attached;

	pthread_mutex_lock(&win->regions.lock);
	attached = is_attached(win, addr, size_bytes, write);
	if (!attached)
		pthread_mutex_unlock(&win->regions.lock);
	return attached;
}

void regions_unuse(struct oriel_win *win)
{
	pthread_mutex_unlock(&win->regions.lock);
}

int regions_open(struct oriel_win *win)
{
	int rc = region_table_take(win->job, &win->regions.table);

	pthread_mutex_init(&win->regions.lock, NULL);

	if (rc) {
		win->regions.table = NULL;
		pthread_mutex_destroy(&win->regions.lock);
	} else
		__atomic_add_fetch(&win->job->private_windows, 1, __ATOMIC_RELAXED);
	return rc;
}

static void count_private(const struct region *region, int change)
{
	if (region->is_private)
		__atomic_add_fetch(&region->job->attached_private, (uint64_t)change, __ATOMIC_RELAXED);
}

static void let_go(struct region *region)
{
	if (is_registered(&region->registration)) {
		mem_deregister(&region->job->mems, &region->registration);
		count_private(region, -1); /* last: no earlier move */
	}
	if (region->in_place)
		share_let_go((void *)(uintptr_t)region->base, (size_t)region->size_bytes);
}

static void release(void *arg)
{
	let_go(arg);
	free(arg);
}

void regions_close(struct oriel_win *win)
{
	if (!win->regions.table)
		return;
	pthread_mutex_destroy(&win->regions.lock);
	tdestroy(win->regions.tree, release);
	tdestroy(win->regions.empty, release);
	free(win->regions.free);
	region_table_give(win->job, win->regions.table);
	__atomic_sub_fetch(&win->job->private_windows, 1, __ATOMIC_RELAXED);
}

static int check_kind(const struct oriel_win *win, const char *call)
{
	int rc = win_check(win, call);

	if (rc || win->regions.table)
		return rc;
	return err_set(ORIEL_ERR_KIND, "%s: %s is not of oriel_win_create_dynamic", call, win->label);
}

/* Attaching. The caller holds win->lock. */

static int take_index(struct oriel_win *win, uint32_t *index)
{
	struct regions *regions = &win->regions;

	if (regions->free_count > 0) {
		*index = regions->free[--regions->free_count];
		return 0;
	}
	if (regions->used == WINDOW_REGIONS_MAX)
		return err_set(ORIEL_ERR_LIMIT, "%s: more than %d regions attached at once", win->label, WINDOW_REGIONS_MAX);
	if (!grow_array(&regions->free, &regions->free_capacity, regions->used + 1, sizeof(*regions->free)))
		return err_set(ORIEL_ERR_MEMORY, "%s: out of memory for region %u", win->label, regions->used);
	*index = regions->used++;
	return 0;
}

static int show(struct oriel_win *win, struct region *region)
{
	struct region_entry entry = { .base = region->base,
		                          .size_bytes = region->size_bytes,
		                          .serial = ++win->regions.serial,
		                          .flags = region->read_only ? DIR_READ_ONLY : 0 };
	int rc = take_index(win, &region->index);

	if (rc)
		return rc;
	rc = region_table_show(win->job, win->regions.table, region->index, &entry, &region->registration);
	if (rc)
		win->regions.free[win->regions.free_count++] = region->index;
	return rc;
}

static int attached_already(const struct oriel_win *win, const struct region *wanted, const struct region *found)
{
	return err_set(ORIEL_ERR_ATTACH, "%s: of the %llu bytes at 0x%llx some are attached already: %llu at 0x%llx",
	               win->label, (unsigned long long)wanted->size_bytes, (unsigned long long)wanted->base,
	               (unsigned long long)found->size_bytes, (unsigned long long)found->base);
}

static int enter(struct oriel_win *win, struct region *region)
{
	bool empty = region->size_bytes == 0;
	void **root = empty ? &win->regions.empty : &win->regions.tree;
	struct region **found = tsearch(region, root, empty ? compare_base : compare);
	int rc;

	if (!found)
		return err_set(ORIEL_ERR_MEMORY, "%s: out of memory for a region", win->label);
	if (*found != region)
		return attached_already(win, region, *found);
	rc = empty ? 0 : show(win, region);
	if (rc)
		tdelete(region, root, compare);
	return rc;
}

static int open_to_peers(const struct oriel_win *win, struct region *region)
{
	void *base = (void *)(uintptr_t)region->base;
	size_t size_bytes = (size_t)region->size_bytes;
	struct mem_region opened = { .base = (uintptr_t)base, .size_bytes = size_bytes };
	bool ours = alloc_holds(win->job, base, size_bytes);
	int rc;

	region->in_place = !ours && in_place_move(win->job, win->wish, base, size_bytes);
	region->is_private = !ours && !region->in_place;
	count_private(region, 1); /* first: no move from now on */
	rc = mem_open_to_peers(&win->job->mems, window_devices(win), &opened);
	region->registration = opened.registration;
	region->read_only = opened.read_only;
	if (rc)
		count_private(region, -1);
	return rc;
}

static int attach(struct oriel_win *win, struct region *region)
{
	int rc = region->size_bytes > 0 ? open_to_peers(win, region) : 0;

	if (rc)
		return rc;
	owned_lock_take(&win->lock);
	pthread_mutex_lock(&win->regions.lock);
	rc = enter(win, region);
	pthread_mutex_unlock(&win->regions.lock);
	owned_lock_give(&win->lock);
	return rc;
}

int oriel_win_attach(oriel_win *win, void *base, size_t size_bytes)
{
	struct region *region;
	int rc = check_kind(win, "oriel_win_attach");

	if (rc)
		return rc;
	if ((!base && size_bytes > 0) || (uintptr_t)base + size_bytes < (uintptr_t)base)
		return err_set(ORIEL_ERR_ARG, "oriel_win_attach: %s: base is %p, size_bytes %zu", win->label, base, size_bytes);
	region = calloc(1, sizeof(*region));
	if (!region)
		return err_set(ORIEL_ERR_MEMORY, "oriel_win_attach: %s: out of memory", win->label);
	*region = (struct region){ .base = (uintptr_t)base, .size_bytes = size_bytes, .job = win->job };
	rc = attach(win, region);
	if (rc)
		release(region);
	return rc ? err_in(rc, "oriel_win_attach") : 0;
}

/* Detaching. */

static int send_notified(struct oriel_win *win, struct link *link)
{
	struct remote words = link_remote_flags(link);
	uint64_t before = link->ext->remote_regions->notified_sent;

	words.addr += offsetof(struct flag_pair, notified);
	link->ext->remote_regions->notified_sent = win->regions.notified;
	/* Pairs with the flag_load in notified_word, remote_regions.c, at the origin. */
	return direct_flag(&link->peer->direct, before, win->regions.notified, words, &link->last_number);
}

/*
 * Notifies an origin, once it is known where its words are. Returns whether it is gone, or an
 * error.
 */
static int tell(struct oriel_win *win, int rank)
{
	struct link *link;
	int rc = link_get(win, rank, &link);

	if (rc == 0)
		rc = link_prefetch(win, link);
	if (rc)
		return rc;
	if (link_state(link) == LINK_READY && link_remote_regions(link) &&
	    link->ext->remote_regions->notified_sent != win->regions.notified && send_notified(win, link))
		wire_break(&link->peer->wire);
	return link_state(link) == LINK_GONE;
}

/* Returns whether a peer has stopped using the region that goes; or an error. */
static int is_done(struct oriel_win *win, struct peer *peer)
{
	int rank = group_rank_of(win->group, peer->rank);
	uint64_t acked;

	if (rank == ORIEL_RANK_NONE || peer->is_atomics_peer) /* atomics peers have no flag words */
		return 1;
	acked = flag_load(&peer_flags(peer, win->slot)->acked); /* pairs with send_acked, remote_regions.c, at the origin */
	if (acked == 0 || acked == win->regions.notified + 1)
		return 1;
	if (state_load(&peer->state) == PEER_DEAD) { /* pairs with rank_lost */
		wire_break(&peer->wire);                 /* nothing that it has sent arrives from now on */
		return 1;
	}
	wait_serve(win->job, peer);
	return tell(win, rank);
}

/* Takes a region that no rank uses out of the tree: lookups no longer find it. */
static struct region *take_out(struct oriel_win *win)
{
	struct region *region = win->regions.going;

	pthread_mutex_lock(&win->regions.lock);
	tdelete(region, &win->regions.tree, compare);
	pthread_mutex_unlock(&win->regions.lock);
	region->leaves = true;
	return region;
}

/*
 * Releases the region without win->lock, since moving much memory back takes a while. No other
 * detach proceeds meanwhile.
 */
static void finish(struct oriel_win *win, struct region *region)
{
	let_go(region);
	owned_lock_take(&win->lock);
	win->regions.free[win->regions.free_count++] = region->index;
	win->regions.going = NULL;
	owned_lock_give(&win->lock);
	free(region);
}

static int all_done(struct oriel_win *win)
{
	uint32_t at = 0;
	int rc = 1;

	for (struct peer *peer = peer_next(win->job, &at); rc >= 0 && peer; peer = peer_next(win->job, &at)) {
		int done = is_done(win, peer);

		rc = done < 0 || rc > done ? done : rc;
	}
	return rc;
}

struct detaching {
	struct oriel_win *win;
	uint64_t base;
};

/* Hides the entry from later readings, and makes the notification. */
static void begin(struct oriel_win *win, struct region *region)
{
	win->regions.going = region;
	region_table_hide(win->job, win->regions.table, region->index);
	win->regions.notified = ((win->regions.notified >> 16) + 1) << 16 | region->index;
	full_fence(); /* pairs with subscribe, remote_regions.c, at an origin: it reads after this, or is notified */
}

static struct region *region_at(const struct oriel_win *win, uint64_t base)
{
	struct region *region = holding(&win->regions, base);

	return region && region->base == base ? region : NULL;
}

static bool is_leaving(const struct oriel_win *win, uint64_t base)
{
	return win->regions.going && win->regions.going->leaves && win->regions.going->base == base;
}

/* Advances the one detach in progress. *leaves: a region that the caller must finish. */
static int detach_locked(struct oriel_win *win, uint64_t base, struct region **leaves)
{
	struct region *region = region_at(win, base);
	int rc;

	if (!region)
		return !is_leaving(win, base); /* another thread detaches it */
	if (!win->regions.going)
		begin(win, region);
	if (win->regions.going->leaves)
		return 0;
	remote_regions_look(win); /* others may wait for us, and we may be our own origin */
	rc = all_done(win);
	if (rc <= 0)
		return rc;
	*leaves = take_out(win);
	return region == *leaves;
}

static int detach_step(void *arg)
{
	struct detaching *detaching = arg;
	struct region *leaves = NULL;
	int rc;

	owned_lock_take(&detaching->win->lock);
	rc = detach_locked(detaching->win, detaching->base, &leaves);
	owned_lock_give(&detaching->win->lock);
	if (leaves)
		finish(detaching->win, leaves);
	return rc;
}

static int detach_watch(void *arg, struct wait *wait)
{
	struct oriel_win *win = ((struct detaching *)arg)->win;
	uint64_t notified = ((struct detaching *)arg)->win->regions.notified;
	uint32_t at = 0;

	for (struct peer *peer = peer_next(win->job, &at); peer; peer = peer_next(win->job, &at)) {
		int rank = peer->is_atomics_peer ? ORIEL_RANK_NONE : group_rank_of(win->group, peer->rank);
		uint64_t acked = rank == ORIEL_RANK_NONE ? 0 : flag_load(&peer_flags(peer, win->slot)->acked);

		if (!acked || acked == notified + 1)
			continue;
		blocked_by(win, wait, CAUSE_DETACH, peer, 0);
		link_watch_member(win, rank, wait);
	}
	return 0;
}

/* Returns 1: an empty region, now detached; 0: a region that others may use; or an error. */
static int detach_check(struct oriel_win *win, uint64_t base)
{
	struct region wanted = { .base = base }, **empty = tfind(&wanted, &win->regions.empty, compare_base), *found;

	if (region_at(win, base))
		return 0;
	if (!empty)
		return err_set(ORIEL_ERR_ATTACH, "%s: no attached region begins at 0x%llx", win->label,
		               (unsigned long long)base);
	found = *empty;
	tdelete(found, &win->regions.empty, compare_base);
	release(found);
	return 1;
}

int oriel_win_detach(oriel_win *win, const void *base)
{
	static const struct waiter waiter = { detach_step, detach_watch };
	struct detaching detaching = { win, (uintptr_t)base };
	struct wait wait;
	int rc = check_kind(win, "oriel_win_detach");

	if (rc)
		return rc;
	owned_lock_take(&win->lock);
	rc = detach_check(win, detaching.base);
	owned_lock_give(&win->lock);
	if (rc == 0) {
		wait_begin(&wait, win->job, "oriel_win_detach", win->label);
		rc = wait_until(&wait, &waiter, &detaching);
	}
	return rc < 0 ? err_in(rc, "oriel_win_detach") : 0;
}
