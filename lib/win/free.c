// SPDX-License-Identifier: BSD-2-Clause
/*
 * free.c - freeing windows
 *
 * DESIGN NOTES
 *
 * A free waits until its rank's work requests on the window are complete, flags included. After a
 * barrier no member has operations outstanding, so it hides the entry and deregisters.
 *
 * When a member is lost (dead, or it has freed the window alone), the free still ends. It abandons
 * open epochs, and releases locks of living members, since others may wait for them. Ranks that
 * wait for this rank see the hidden entry. Origins in an epoch that this rank has granted have
 * ORIGINS_MS to end it before the memory is released. The survivors that know of the same deaths
 * make a barrier, for at most SURVIVORS_MS. The slot is not reused, because a late write would
 * change a later window's flags.
 */
#include <stdlib.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "conn/coll.h"
#include "job/group.h"
#include "job/job.h"
#include "conn/ctrl_msg.h"
#include "sync/wait.h"
#include "win/blocked.h"
#include "win/epoch.h"
#include "win/link.h"
#include "win/lock_words.h"
#include "win/win.h"
#include "win/window.h"

#define SURVIVORS_MS 250
#define ORIGINS_MS 1000
#define GONE_NS NS_PER_SECOND /* for a message in flight from a member that has gone */

/* Returns whether a member is dead or gone, and cannot end its epochs. */
static bool is_lost(const struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		if (win->links.table[i] && link_lost(win->links.table[i]))
			return true;
	}
	return job_reported_death_of_member(win->job, win->group);
}

bool window_free_refused(struct oriel_win *win)
{
	unsigned hindrances;

	owned_lock_take(&win->lock);
	hindrances = win->sync & legality[is_lost(win) ? CALL_FREE_LOST : CALL_FREE].forbids;
	owned_lock_give(&win->lock);
	return hindrances != 0;
}

/* Drops operations, makes the device release the caller's memory, releases locks. */
static void give_up_epochs(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		if (win->links.table[i] && (win->links.table[i]->marks & LINK_TOUCHED) && link_lost(win->links.table[i]))
			link_let_go(win->links.table[i]);
	}
	locks_give_back(win);
	win->sync &= ~(unsigned)(SYNC_ACCESS_ALL | SYNC_EXPOSURE_ALL | SYNC_FENCE_PENDING | SYNC_LOCKS_ALL);
}

/* Reserves the free for this thread. Under win->lock. */
static int free_begin(struct oriel_win *win)
{
	bool lost = is_lost(win);
	int rc = epoch_check(win, lost ? CALL_FREE_LOST : CALL_FREE, "oriel_win_free");

	if (rc)
		return rc;
	if (lost)
		give_up_epochs(win);
	win->sync |= SYNC_FREEING;
	gate_close_all(win);
	return 0;
}

struct draining {
	struct oriel_win *win;
	int dead; /* a member that died with requests outstanding, or ORIEL_RANK_NONE */
};

/* Returns whether a link's last request is complete, or lost with its peer. */
static bool link_drained(struct draining *draining, struct link *link)
{
	if (wire_done(&link->peer->wire, link->last_number) && !link_am_number(link))
		return true;
	if (state_load(&link->peer->state) != PEER_DEAD) /* pairs with rank_lost */
		return wire_drive(&link->peer->wire, link->last_number) && link_applied(link, link_am_number(link));
	wire_break(&link->peer->wire); /* no late write reaches released memory */
	am_sender_cut(link->peer);
	draining->dead = link->rank;
	return true;
}

static int no_lookups(void *arg)
{
	return __atomic_load_n(&((struct oriel_win *)arg)->lookups, __ATOMIC_ACQUIRE) == 0; /* pairs with lookup_finish */
}

/* Returns whether all that was sent has ended, and no lookup is in progress. */
static int drain_turn(void *arg)
{
	struct draining *draining = arg;
	struct oriel_win *win = draining->win;
	int all = no_lookups(win);

	for (uint32_t i = 0; i < win->links.capacity; i++) {
		if (win->links.table[i])
			all &= link_drained(draining, win->links.table[i]);
	}
	return all;
}

static int drain_watch(void *arg, struct wait *wait)
{
	struct oriel_win *win = ((struct draining *)arg)->win;

	for (uint32_t i = 0; i < win->links.capacity; i++) {
		const struct link *link = win->links.table[i];

		if (!link || (!link_am_number(link) && wire_done(&link->peer->wire, link->last_number)))
			continue;
		blocked_by(win, wait, CAUSE_DATA, link->peer, 0);
		wait_watch(wait, link->peer);
	}
	return 0;
}

/*
 * Makes drain wait for post flags too. If a device placed a flag twice (places_twice), the member
 * would take it for one of the slot's next window.
 */
static void await_posted(struct oriel_win *win)
{
	owned_lock_take(&win->lock);
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		struct link *link = win->links.table[i];

		if (link && link->posted_sent > 0 && peer_is_up(link->peer) && link->peer->device->places_twice)
			link->last_number = wire_signal(&link->peer->wire);
	}
	owned_lock_give(&win->lock);
}

/*
 * Waits for the window's work requests, flags included. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT.
 */
static int drain(struct oriel_win *win)
{
	static const struct waiter waiter = { drain_turn, drain_watch };
	struct draining draining = { win, ORIEL_RANK_NONE };
	struct wait wait;
	int rc;

	await_posted(win);
	wait_begin(&wait, win->job, "oriel_win_free", win->label);
	rc = wait_until(&wait, &waiter, &draining);
	if (rc)
		return rc;
	return draining.dead == ORIEL_RANK_NONE ? 0 : win_peer_error(win, draining.dead);
}

/* Returns the members not known dead, or NULL. */
static struct oriel_group *survivors(struct oriel_win *win)
{
	int *worlds = malloc((size_t)win->group->size * sizeof(int));
	struct oriel_group *group;
	int count = 0;

	if (!worlds)
		return NULL;
	for (int i = 0; i < win->group->size; i++) {
		int world = win_world_rank(win, i);

		if (!rank_is_dead(win->job, world, NULL))
			worlds[count++] = world;
	}
	group = group_new(win->job, count, worlds);
	free(worlds);
	return group;
}

/* Its result does not matter: each survivor goes on when the time is over. */
static void survivors_barrier(struct oriel_win *win)
{
	struct oriel_group *group = survivors(win);
	struct coll coll;
	struct wait wait;
	uint8_t id[16], key[16];

	if (!group)
		return;
	for (int i = 0; i < WINDOW_ID_BYTES; i++)
		key[i] = group->key[i] ^ win->id[i]; /* names the window and this set of survivors */
	coll_id(id, key, 0, COLL_FREE_SURVIVORS);
	coll_begin(&coll, group, id, 0, 0);
	wait_begin(&wait, win->job, "oriel_win_free", win->label);
	wait.limit_ms = SURVIVORS_MS;
	coll_run(&coll, &wait);
	unexpected_msgs_drop(win->job, id);
	group_release(group);
}

static bool known_gone(struct oriel_win *win, int rank)
{
	const struct link *link;

	owned_lock_take(&win->lock);
	link = link_find(win, rank);
	owned_lock_give(&win->lock);
	return link && link_state(link) == LINK_GONE;
}

/* Returns whether a living member, whose message does not come, has freed the window. */
static bool has_gone(void *arg, int world, struct wait *wait)
{
	struct oriel_win *win = arg;
	int rank = group_rank_of(win->group, world);

	if (!known_gone(win, rank) && (!wait->check || link_watch_member(win, rank, wait)))
		return false;
	if (win->gone_ns == 0)
		win->gone_ns = now_ns();
	return now_ns() - win->gone_ns >= GONE_NS;
}

static int free_barrier(struct oriel_win *win)
{
	struct wait wait;
	uint8_t id[16];

	if (!win->free_coll.job) {
		coll_id_within(id, win->id, 0, COLL_FREE);
		coll_begin(&win->free_coll, win->group, id, 0, 0);
		win->free_coll.has_gone = has_gone;
		win->free_coll.has_gone_arg = win;
	}
	wait_begin(&wait, win->job, "oriel_win_free", win->label);
	return coll_run(&win->free_coll, &wait);
}

/* Returns whether an origin may still be in an epoch that was granted to it. */
static bool origin_inside(struct oriel_win *win, struct link *link, struct wait *wait)
{
	if (!link || flag_load(&link_flags(win, link)->completed) == link->completed_expected)
		return false; /* pairs with send_completed at the origin */
	blocked_by(win, wait, CAUSE_COMPLETE, link->peer, link->completed_expected);
	return link_watch(win, link, wait);
}

/* origins_watch alone checks the origins. */
static int never(void *arg)
{
	(void)arg;
	return 0;
}

static int origins_watch(void *arg, struct wait *wait)
{
	struct oriel_win *win = arg;
	bool any = false;

	for (uint32_t i = 0; i < win->links.capacity; i++)
		any |= origin_inside(win, win->links.table[i], wait);
	return !any;
}

static void wait_for_origins(struct oriel_win *win)
{
	static const struct waiter waiter = { never, origins_watch };
	struct wait wait;

	wait_begin(&wait, win->job, "oriel_win_free", win->label);
	wait.limit_ms = ORIGINS_MS;
	wait_until(&wait, &waiter, win);
}

static int lookups_watch(void *arg, struct wait *wait)
{
	(void)arg;
	wait_blocked(wait, CAUSE_SETUP);
	return 0;
}

/* Waits for lookups. Each ends by an answer or the peer's death. */
static void wait_for_lookups(struct oriel_win *win)
{
	static const struct waiter waiter = { no_lookups, lookups_watch };
	struct wait wait;

	wait_begin(&wait, win->job, "oriel_win_free", win->label);
	wait.limit_ms = 0;
	wait_until(&wait, &waiter, win);
}

static void leave_window(struct oriel_win *win)
{
	window_hide(win);
	wait_for_origins(win);
	survivors_barrier(win);
}

/* *over: the free is final; otherwise another call can repeat it. */
static int free_together(struct oriel_win *win, bool *over)
{
	int drain_rc = drain(win);
	uint8_t id[16];
	int rc;

	*over = !wait_can_repeat(drain_rc);
	if (!*over)
		return drain_rc;
	rc = free_barrier(win);
	*over = win->free_coll.barrier.round == win->free_coll.barrier.rounds;
	if (!*over)
		return rc;
	fence_failed_id(win, id);
	unexpected_msgs_drop(win->job, id);
	if (rc == ORIEL_ERR_PEER) {
		leave_window(win);
		rc = peer_error(win->job, win->free_coll.culprit); /* leave_window may have set another text */
	}
	return rc ? rc : drain_rc;
}

int oriel_win_free(oriel_win **win)
{
	struct oriel_job *job;
	uint32_t slot;
	bool over = false, reuse;
	int rc = win_check(win ? *win : NULL, "oriel_win_free");

	if (rc)
		return rc;
	job = (*win)->job;
	slot = (*win)->slot;
	owned_lock_take(&(*win)->lock);
	rc = free_begin(*win);
	owned_lock_give(&(*win)->lock);
	if (rc == 0)
		rc = free_together(*win, &over);
	if (!over)
		return rc ? err_in(rc, "oriel_win_free") : 0;
	window_hide(*win);
	wait_for_lookups(*win);
	regions_watch_stop(*win);
	reuse = rc == 0;
	if (reuse)
		rc = deferred_error_report(&(*win)->deferred_errors);
	window_release(*win, reuse);
	window_give_slot(job, slot, reuse);
	*win = NULL;
	return rc ? err_in(rc, "oriel_win_free") : 0;
}
