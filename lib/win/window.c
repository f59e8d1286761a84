// SPDX-License-Identifier: BSD-2-Clause
/*
 * window.c - making, asking and freeing windows
 *
 * DESIGN NOTES
 *
 * Making: register the memory, take a directory slot, publish the entry, then one barrier of the
 * group with a vote. No operation or flag for the window is sent before the barrier is over, so
 * everything is in place when one arrives; a member that could not register brings its error into
 * the barrier and all fail together.
 *
 * Freeing: wait for the completion of all own work requests on the window, flags included; barrier
 * of the group; hide the entry and deregister. After the barrier nobody has anything under way.
 *
 * Freeing when a member is lost (dead, or gone from the window itself). There is always a way out:
 * epochs that are open are given up, since nobody may be left who could end them. Those who wait for
 * this rank see from the hidden entry that it has gone. Origins that are inside an epoch which it
 * has granted have ORIGINS_MS to end it, before the memory goes from under their operations. Then
 * the survivors make a barrier of their own, as far as they know of the same deaths, and in any case
 * go on after SURVIVORS_MS; the slot is not used again, because a write that is still on its way
 * would change a later window's flags.
 */
#include "win/win.h"
#include "win/epoch.h"
#include "win/origin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "job/coll.h"
#include "job/directory.h"
#include "base/err.h"
#include "base/memory_file.h"
#include "job/group.h"
#include "job/job.h"
#include "job/mail.h"
#include "base/order.h"
#include "base/util.h"
#include "job/wait.h"

#define DISP_UNIT_MAX 0x7fffffffu
#define SURVIVORS_MS 250
#define ORIGINS_MS 1000
#define GONE_NS NS_PER_SECOND /* a mail of a member that has freed the window may still be on its way */

/* Hints (W9). */

static void set_text(char *to, size_t to_bytes, const char *from)
{
	size_t bytes = min_size(strlen(from), to_bytes - 1);

	memcpy(to, from, bytes);
	to[bytes] = '\0';
}

static void take_hint(struct oriel_win_info *info, const char *key, const char *value)
{
	int is_true = strcmp(value, "true") == 0;

	if (strcmp(key, "no_locks") == 0)
		info->no_locks = is_true;
	else if (strcmp(key, "same_size") == 0)
		info->same_size = is_true;
	else if (strcmp(key, "same_disp_unit") == 0)
		info->same_disp_unit = is_true;
	else if (strcmp(key, "accumulate_ordering") == 0)
		set_text(info->accumulate_ordering, sizeof(info->accumulate_ordering), value);
	else if (strcmp(key, "accumulate_ops") == 0)
		set_text(info->accumulate_ops, sizeof(info->accumulate_ops), value);
}

static void take_hints(struct oriel_win_info *info, const struct oriel_hint hints[])
{
	set_text(info->accumulate_ordering, sizeof(info->accumulate_ordering), "rar,raw,war,waw");
	set_text(info->accumulate_ops, sizeof(info->accumulate_ops), "same_op_no_op");
	for (; hints && hints->key; hints++) {
		if (hints->value)
			take_hint(info, hints->key, hints->value);
	}
}

/* Making. */

static int create_check(const void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_group *group,
                        const struct oriel_win *const *win, const char *call)
{
	if (!handle_valid(HANDLE_GROUP, group) || !handle_valid(HANDLE_JOB, group->job))
		return err_set(ORIEL_ERR_HANDLE, "%s: the group handle %p is null, freed, or no group", call,
		               (const void *)group);
	if (!win || (!base && size_bytes > 0))
		return err_set(ORIEL_ERR_ARG, "%s: base is %p, size_bytes %zu, win %p", call, base, size_bytes,
		               (const void *)win);
	if (disp_unit_bytes < 1 || disp_unit_bytes > DISP_UNIT_MAX)
		return err_set(ORIEL_ERR_ARG, "%s: disp_unit_bytes is %zu, must be 1 to %u", call, disp_unit_bytes,
		               DISP_UNIT_MAX);
	if ((uintptr_t)base + size_bytes < (uintptr_t)base)
		return err_set(ORIEL_ERR_ARG, "%s: %zu bytes at %p pass the end of the address space", call, size_bytes, base);
	if (group->my_rank == ORIEL_RANK_NONE)
		return err_set(ORIEL_ERR_RANK, "%s: rank %d of the job is no member of the group", call, group->job->rank);
	return 0;
}

static struct oriel_win *win_new(struct oriel_group *group, size_t size_bytes, size_t disp_unit_bytes,
                                 const struct oriel_hint hints[])
{
	struct oriel_win *win = handle_new(HANDLE_WIN, sizeof(*win));

	if (!win)
		return NULL;
	win->job = group->job;
	win->size_bytes = size_bytes;
	win->disp_unit_bytes = disp_unit_bytes;
	win->fd = -1;
	win->group = group_copy(group);
	if (!win->group) {
		handle_release(HANDLE_WIN, win);
		return NULL;
	}
	win->fence.barrier.rounds = log2_up((uint64_t)group->size);
	win->deaths = &group->job->deaths.count;
	owned_lock_init(&win->lock);
	take_hints(&win->info, hints);
	return win;
}

/* Release everything but flag words and slot. */
static void win_release(struct oriel_win *win)
{
	struct oriel_job *job = win->job;

	release_epoch_mrs(win);
	links_free(win);
	if (win->mr && !win->allocated)
		__atomic_sub_fetch(&job->private_windows, 1, __ATOMIC_RELAXED);
	if (win->mr) {
		mem_forget(&job->mems, win->mr);
		peers_drain_zero_copy(job); /* operations on other windows may use this memory as their origin */
		ibv_dereg_mr(win->mr);
	}
	if (win->allocated && win->base) {
		munmap(win->base, win->mapped_bytes);
		close(win->fd);
	}
	free(win->held);
	free(win->epoch_mrs);
	free(win->access.links);
	free(win->exposure.links);
	group_release(win->group);
	owned_lock_destroy(&win->lock);
	handle_release(HANDLE_WIN, win);
}

static int allocate_memory(struct oriel_win *win)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base;
	int rc;

	win->allocated = true;
	if (win->size_bytes == 0)
		return 0;
	if (win->size_bytes > SIZE_MAX - page)
		return err_set(ORIEL_ERR_MEMORY, "%zu bytes cannot be allocated", win->size_bytes);
	win->mapped_bytes = round_up(win->size_bytes, page);
	rc = map_memory_file("oriel-window", win->mapped_bytes, &base, &win->fd);
	win->base = base;
	return rc;
}

static void publish(struct oriel_win *win)
{
	struct dir_entry entry = {
		.base = (uint64_t)(uintptr_t)win->base,
		.size_bytes = win->size_bytes,
		.control_addr = (uint64_t)(uintptr_t)win->control.addr,
		.control_rkey = win->control.rkey,
		.rkey = win->mr ? win->mr->rkey : 0,
		.disp_unit_bytes = (uint32_t)win->disp_unit_bytes,
		.flags = win->read_only ? DIR_READ_ONLY : 0,
	};

	memcpy(entry.id, win->id, sizeof(entry.id));
	entry.check = dir_entry_check(&entry);
	win->fence.words = win->control.addr;
	directory_publish(win->job, win->slot, &entry);
}

/* One window more, or less. */
static void count_window(struct oriel_job *job, int change)
{
	pthread_mutex_lock(&job->lock);
	job->holdings.windows += (uint32_t)change;
	job->holdings.window_bytes += (size_t)change * sizeof(struct oriel_win);
	pthread_mutex_unlock(&job->lock);
}

/* Slot and memory of the window; with the slot taken, also on failure, *slot_taken. */
static int open_window(struct oriel_win *win, bool *slot_taken)
{
	int rc = directory_take(win->job, &win->slot, &win->control);

	*slot_taken = rc == 0;
	if (rc == 0)
		count_window(win->job, 1);
	if (rc == 0 && win->size_bytes > 0)
		rc = mem_add(&win->job->mems, win->base, win->size_bytes, &win->mr, &win->read_only);
	if (win->mr && !win->allocated)
		__atomic_add_fetch(&win->job->private_windows, 1, __ATOMIC_RELAXED);
	if (rc == 0)
		publish(win);
	return rc;
}

static void hide(struct oriel_win *win)
{
	static const struct dir_entry nothing;

	directory_publish(win->job, win->slot, &nothing);
}

static void forget(struct oriel_job *job, uint32_t slot, bool reuse)
{
	if (reuse)
		directory_give(job, slot);
	count_window(job, -1);
}

static int create_barrier(struct oriel_win *win, int vote, const char *call)
{
	struct coll coll;
	struct wait wait;
	uint8_t id[16];

	coll_id(id, win->id, 0, COLL_CREATE);
	coll_begin(&coll, win->job, win->group, id, vote, win->job->rank);
	wait_begin(&wait, win->job, call, win);
	return coll_run_once(&coll, &wait);
}

/* From here on the members go together: who fails takes part in the barrier with the error. */
static int create_together(struct oriel_win *win, const char *call)
{
	bool slot_taken = false;
	int vote = win->allocated ? allocate_memory(win) : 0;
	int rc;

	if (vote == 0)
		vote = open_window(win, &slot_taken);
	rc = create_barrier(win, vote, call);
	if (rc == 0)
		return 0;
	if (slot_taken) {
		hide(win);
		forget(win->job, win->slot, rc != ORIEL_ERR_PEER && rc != ORIEL_ERR_TIMEOUT);
	}
	return rc;
}

static int create(struct oriel_win *win, struct oriel_win **out, const char *call)
{
	uint64_t number;
	int rc = job_count_collective(win->job, win->group, &number);

	if (rc == 0) {
		coll_id(win->id, win->group->key, number, COLL_CREATE);
		rc = create_together(win, call);
	}
	if (rc) {
		win_release(win);
		return err_in(rc, call);
	}
	counter_store(&win->deaths_seen, counter_load(win->deaths)); /* the load pairs with rank_died */
	*out = win;
	return 0;
}

int oriel_win_create(void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                     oriel_group *group, oriel_win **win)
{
	struct oriel_win *made;
	int rc = create_check(base, size_bytes, disp_unit_bytes, group, (const struct oriel_win *const *)win,
	                      "oriel_win_create");

	if (rc)
		return rc;
	made = win_new(group, size_bytes, disp_unit_bytes, hints);
	if (!made)
		return err_set(ORIEL_ERR_MEMORY, "oriel_win_create: out of memory");
	made->base = base;
	return create(made, win, "oriel_win_create");
}

int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win)
{
	struct oriel_win *made;
	int rc = create_check(NULL, 0, disp_unit_bytes, group, (const struct oriel_win *const *)win, "oriel_win_allocate");

	if (rc)
		return rc;
	if (!base)
		return err_set(ORIEL_ERR_ARG, "oriel_win_allocate: base is NULL");
	made = win_new(group, size_bytes, disp_unit_bytes, hints);
	if (!made)
		return err_set(ORIEL_ERR_MEMORY, "oriel_win_allocate: out of memory");
	made->allocated = true;
	rc = create(made, win, "oriel_win_allocate");
	if (rc == 0)
		*base = made->base;
	return rc;
}

int oriel_win_query(const oriel_win *win, struct oriel_win_info *info)
{
	int rc = win_check(win, "oriel_win_query");

	if (rc)
		return rc;
	if (!info)
		return err_set(ORIEL_ERR_ARG, "oriel_win_query: window %p: info is NULL", (const void *)win);
	*info = win->info;
	info->base = win->base;
	info->size_bytes = win->size_bytes;
	info->disp_unit_bytes = win->disp_unit_bytes;
	info->group = win->group;
	return 0;
}

/* Freeing. */

/* Whether a member is dead or has gone, as far as is known: epochs may have nobody who could end them. */
static bool is_lost(const struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->link_capacity; i++) {
		if (win->links[i] && link_lost(win->links[i]))
			return true;
	}
	return job_told_of_member(win->job, win->group);
}

/* Give up what is open: held-back operations are dropped, the device lets go of the caller's memory. */
static void give_up_epochs(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->link_capacity; i++) {
		if (win->links[i] && (win->links[i]->marks & LINK_TOUCHED) && link_lost(win->links[i]))
			link_let_go(win->links[i]);
	}
	win->sync &= ~(unsigned)(SYNC_ACCESS_ALL | SYNC_EXPOSURE_ALL | SYNC_FENCE_PENDING);
}

/* Take the right to free the window. The caller holds the lock. */
static int free_begin(struct oriel_win *win)
{
	bool lost = is_lost(win);
	int rc = epoch_check(win, lost ? CALL_FREE_LOST : CALL_FREE, "oriel_win_free");

	if (rc)
		return rc;
	if (lost)
		give_up_epochs(win);
	win->sync |= SYNC_FREEING;
	return 0;
}

struct draining {
	struct oriel_win *win;
	int dead; /* a member that took requests with it, or ORIEL_RANK_NONE */
};

/* Whether a link's last request is complete, or lost with its peer. */
static bool link_drained(struct draining *draining, struct link *link)
{
	if (wire_done(&link->peer->wire, link->last_number))
		return true;
	if (state_load(&link->peer->state) != PEER_DEAD) /* pairs with rank_died */
		return wire_drive(&link->peer->wire, link->last_number);
	draining->dead = link->rank;
	return true;
}

/* Everything this rank has sent on the window has ended; and nothing is being looked up. */
static int drain_turn(void *arg)
{
	struct draining *draining = arg;
	struct oriel_win *win = draining->win;
	bool all = __atomic_load_n(&win->lookups, __ATOMIC_ACQUIRE) == 0; /* pairs with lookup_finish */

	for (uint32_t i = 0; i < win->link_capacity; i++) {
		if (win->links[i])
			all &= link_drained(draining, win->links[i]);
	}
	return all;
}

static int drain_watch(void *arg, struct wait *wait)
{
	struct oriel_win *win = ((struct draining *)arg)->win;

	for (uint32_t i = 0; i < win->link_capacity; i++) {
		if (win->links[i] && !wire_done(&win->links[i]->peer->wire, win->links[i]->last_number))
			wait_watch(wait, win->links[i]->peer);
	}
	return 0;
}

/* Work requests of this window, flags included, that are not complete: wait for them. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT. */
static int drain(struct oriel_win *win)
{
	static const struct waiter waiter = { drain_turn, drain_watch };
	struct draining draining = { win, ORIEL_RANK_NONE };
	struct wait wait;
	int rc;

	wait_begin(&wait, win->job, "oriel_win_free", win);
	rc = wait_until(&wait, &waiter, &draining);
	if (rc)
		return rc;
	return draining.dead == ORIEL_RANK_NONE ? 0 : win_peer_error(win, draining.dead);
}

/* The members not known dead, as a group of their own, or NULL. */
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

/*
 * A barrier of those who are left. Its outcome does not matter: everybody goes on, at the latest
 * when the time is over.
 */
static void survivors_barrier(struct oriel_win *win)
{
	struct oriel_group *group = survivors(win);
	struct coll coll;
	struct wait wait;
	uint8_t id[16], key[16];

	if (!group)
		return;
	for (int i = 0; i < WINDOW_ID_BYTES; i++)
		key[i] = group->key[i] ^ win->id[i]; /* this window, and this idea of who is left */
	coll_id(id, key, 0, COLL_FREE_SURVIVORS);
	coll_begin(&coll, win->job, group, id, 0, 0);
	wait_begin(&wait, win->job, "oriel_win_free", win);
	wait.limit_ms = SURVIVORS_MS;
	coll_run(&coll, &wait);
	kept_mails_drop(win->job, id);
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

/* A member that is not dead and whose mail does not come: has it gone? */
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
		coll_id(id, win->id, 0, COLL_FREE);
		coll_begin(&win->free_coll, win->job, win->group, id, 0, 0);
		win->free_coll.has_gone = has_gone;
		win->free_coll.has_gone_arg = win;
	}
	wait_begin(&wait, win->job, "oriel_win_free", win);
	return coll_run(&win->free_coll, &wait);
}

/* Whether an origin may still be inside an epoch that was granted to it. */
static bool origin_inside(struct oriel_win *win, struct link *link, struct wait *wait)
{
	if (!link || flag_load(&link_flags(win, link)->completed) == link->completed_expected)
		return false; /* pairs with send_completed at the origin */
	return link_watch(win, link, wait);
}

/* The origins are looked at in looks only. */
static int never(void *arg)
{
	(void)arg;
	return 0;
}

static int origins_watch(void *arg, struct wait *wait)
{
	struct oriel_win *win = arg;
	bool any = false;

	for (uint32_t i = 0; i < win->link_capacity; i++)
		any |= origin_inside(win, win->links[i], wait);
	return !any;
}

static void wait_for_origins(struct oriel_win *win)
{
	static const struct waiter waiter = { never, origins_watch };
	struct wait wait;

	wait_begin(&wait, win->job, "oriel_win_free", win);
	wait.limit_ms = ORIGINS_MS;
	wait_until(&wait, &waiter, win);
}

static int no_lookups(void *arg)
{
	return __atomic_load_n(&((struct oriel_win *)arg)->lookups, __ATOMIC_ACQUIRE) == 0; /* pairs with lookup_finish */
}

static int nobody(void *arg, struct wait *wait)
{
	(void)arg;
	(void)wait;
	return 0;
}

/* Lookups use links and window. They end: they are answered, or their peer is found dead. */
static void wait_for_lookups(struct oriel_win *win)
{
	static const struct waiter waiter = { no_lookups, nobody };
	struct wait wait;

	wait_begin(&wait, win->job, "oriel_win_free", win);
	wait.limit_ms = 0;
	wait_until(&wait, &waiter, win);
}

/* Leave a window that has lost a member. */
static void leave(struct oriel_win *win)
{
	hide(win);
	wait_for_origins(win);
	survivors_barrier(win);
}

/*
 * Whether it is *over: an error of the way there can be followed by another call, a verdict cannot.
 */
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
	kept_mails_drop(win->job, id);
	if (rc == ORIEL_ERR_PEER) {
		leave(win);
		rc = peer_error(win->job, win->free_coll.culprit); /* leaving may have left a text of its own */
	}
	return rc ? rc : drain_rc;
}

int oriel_win_free(oriel_win **win)
{
	struct oriel_job *job;
	uint32_t slot;
	bool over = false;
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
	hide(*win);
	wait_for_lookups(*win);
	win_release(*win);
	forget(job, slot, rc == 0);
	*win = NULL;
	return rc ? err_in(rc, "oriel_win_free") : 0;
}
