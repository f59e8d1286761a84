// SPDX-License-Identifier: BSD-2-Clause
/* link.c - a window's links to other members; see link.h. */
#include "win/link.h"

#include <stdlib.h>

#include "base/dissemination.h"
#include "base/err.h"
#include "base/order.h"
#include "conn/directory.h"
#include "job/group.h"
#include "job/job.h"
#include "sync/page_lock.h"
#include "sync/wait.h"
#include "win/blocked.h"
#include "win/lock_words.h"
#include "win/remote_regions.h"
#include "win/win.h"

/* Keeps the table at most seven eighths full. */
static bool grow_table(struct oriel_win *win)
{
	struct link **old = win->links.table;
	uint32_t old_capacity = win->links.capacity;
	uint32_t capacity = old_capacity ? old_capacity * 2 : 2;
	struct link **bigger;

	if (old_capacity && (win->links.count + 1) * 8 <= old_capacity * 7)
		return true;
	bigger = calloc(capacity, sizeof(struct link *));
	if (!bigger)
		return false;
	win->links.table = bigger;
	win->links.capacity = capacity;
	for (uint32_t i = 0; i < old_capacity; i++) {
		if (old[i])
			bigger[link_slot(win, old[i]->rank)] = old[i];
	}
	free(old);
	link_count_bytes(win->job, 0, (ptrdiff_t)((capacity - old_capacity) * sizeof(struct link *)));
	return true;
}

int link_get(struct oriel_win *win, int rank, struct link **link)
{
	struct link *made;
	int rc;

	*link = link_find(win, rank);
	if (*link)
		return 0;
	made = grow_table(win) ? calloc(1, sizeof(*made)) : NULL;
	if (!made)
		return err_set(ORIEL_ERR_MEMORY, "%s: out of memory for rank %d", win->label, rank);
	rc = peer_get(win->job, win_world_rank(win, rank), &made->peer);
	if (rc) {
		free(made);
		return rc;
	}
	made->rank = rank;
	win->links.table[link_slot(win, rank)] = made;
	win->links.count++;
	link_count_bytes(win->job, 1, sizeof(*made));
	*link = made;
	return 0;
}

/* Notes where the member's fence words are, if a fence of this rank writes to it. */
static void learn_partner(struct oriel_win *win, const struct link *link, struct remote words)
{
	for (int round = 0; round < win->fence.barrier.rounds; round++) {
		if (dissemination_partner(win->group->size, win->group->my_rank, round, 1) == link->rank)
			win->fence.partner[round].words = words;
	}
}

static enum link_words words_of(const struct dir_entry *entry)
{
	if (entry->flags & DIR_WORDS_BY_DEVICE)
		return WORDS_BY_DEVICE;
	return entry->flags & DIR_WORDS_BY_BOTH ? WORDS_BY_BOTH : WORDS_BY_PROCESSOR;
}

/*
 * Returns whether the words are changed by another device than that of puts, or at another address.
 */
static bool words_are_apart(const struct link *link, const struct dir_entry *entry)
{
	return link->words == WORDS_BY_DEVICE &&
	       (entry->words_rkey != entry->rkey || device_maps_memory(link->peer->device));
}

/* Stores what only some members have. False: out of memory. */
static bool learn_rest(struct link *link, const struct dir_entry *entry)
{
	bool dynamic = entry->flags & DIR_DYNAMIC;

	if (!dynamic && entry->signal_count == 0 && !words_are_apart(link, entry))
		return true;
	if (!link_make_ext(link))
		return false;
	link->ext->words_rkey = entry->words_rkey;
	signals_learn(&link->ext->signals, entry);
	return !dynamic || remote_regions_begin(link, (struct remote){ entry->base, entry->rkey });
}

/* Publishes the description, and sends the post that was queued meanwhile (P6, P11). */
static void described(const struct lookup_customer *customer, const struct dir_entry *entry, uint32_t slot)
{
	struct link *link = customer->link;
	struct peer *peer = link->peer;
	bool post;

	if (!entry) {
		link_gone(link);
		return;
	}
	link->base = entry->base;
	link->words = words_of(entry) & LINK_WORDS_MASK;
	link->size_bytes = entry->size_bytes;
	link->disp_unit_bytes = entry->disp_unit_bytes;
	link->rkey = entry->rkey;
	link->read_only = entry->flags & DIR_READ_ONLY;
	link->slot = (uint16_t)slot;
	if (!learn_rest(link, entry)) {
		link_gone(link);
		return;
	}
	if (peer->direct.self && !link_remote_regions(link))
		link_map(link); /* memory of this rank has no other route */
	learn_partner(customer->window, link, (struct remote){ entry->control_addr, entry->control_rkey });
	pthread_mutex_lock(&peer->lock);
	link_ready(link);
	post = link->post_queued;
	link->post_queued = false;
	pthread_mutex_unlock(&peer->lock);
	if (post)
		link_send_posted(link);
}

int link_prefetch(struct oriel_win *win, struct link *link)
{
	struct lookup_customer customer = { .done = described, .window = win, .link = link, .pending = &win->lookups };

	if (link_state(link) != LINK_NEW)
		return 0;
	link->state = LINK_ASKED; /* under win->lock; the service thread stores LINK_READY later */
	if (lookup_request(link->peer, win->id, win->slot, &customer) == 0)
		return 0;
	link->state = LINK_NEW;
	return ORIEL_ERR_MEMORY;
}

static void stop_checking(struct link *link)
{
	pthread_mutex_lock(&link->peer->lock);
	link->checking = false;
	pthread_mutex_unlock(&link->peer->lock);
}

static void checked(const struct lookup_customer *customer, const struct dir_entry *entry, uint32_t slot)
{
	struct link *link = customer->link;
	struct oriel_win *win = customer->window;

	(void)slot;
	stop_checking(link);
	if (entry)
		return;
	link_gone(link);
	full_fence(); /* pairs with that in look_again, which sees the link gone, or leaves the news */
	counter_store(&win->losses_seen, UINT64_MAX); /* pairs with win_has_news */
}

/* Asks the service thread whether the member still has the window. */
static void check(struct oriel_win *win, struct link *link)
{
	struct lookup_customer customer = { .done = checked, .window = win, .link = link, .pending = &win->lookups };
	bool asked;

	pthread_mutex_lock(&link->peer->lock);
	asked = link->checking;
	link->checking = true;
	pthread_mutex_unlock(&link->peer->lock);
	if (!asked && lookup_again(link->peer, win->id, link->slot, &customer))
		stop_checking(link);
}

bool link_watch(struct oriel_win *win, struct link *link, struct wait *wait)
{
	bool alive = wait_watch(wait, link->peer);

	if (alive && wait->check && link_state(link) == LINK_READY)
		check(win, link);
	return alive && link_state(link) != LINK_GONE;
}

bool link_watch_member(struct oriel_win *win, int rank, struct wait *wait)
{
	struct link *link;
	int rc;

	owned_lock_take(&win->lock);
	rc = link_get(win, rank, &link);
	if (rc == 0)
		rc = link_prefetch(win, link);
	owned_lock_give(&win->lock);
	return rc || link_watch(win, link, wait); /* out of memory: the next check tries again */
}

int link_let_go(struct link *link)
{
	struct wire *wire = &link->peer->wire;

	if (state_load(&link->peer->state) == PEER_DEAD) { /* pairs with rank_lost */
		wire_break(wire);
		am_sender_cut(link->peer);
		return ORIEL_ERR_PEER;
	}
	/* The member lives and has left the window: its device answers. */
	if ((link->marks & LINK_TOUCHED) && !wire_drive(wire, link->last_number))
		return 0;
	return link_applied(link, link_am_number(link)) ? ORIEL_ERR_PEER : 0;
}

void link_leave_copied(struct oriel_win *win, struct link *link)
{
	if (!(link->marks & LINK_TOUCHED) || wire_done(&link->peer->wire, link->last_number))
		return;
	link->marks |= LINK_COPIED;
	/* The death may have been handled before the mark was set; pairs with rank_lost. */
	if (state_load(&link->peer->state) == PEER_DEAD)
		counter_store(&win->losses_seen, UINT64_MAX);
}

/* Lets the fast paths of epochs find the words, if stores reach them. */
static void remember_flags(struct link *link)
{
	void *there = direct_word(&link->peer->direct, link_remote_flags(link));

	__atomic_store_n(&link->flags_there, there, __ATOMIC_RELEASE); /* pairs with link_flags_there */
}

int link_store_flag(struct link *link, struct remote word, uint64_t before, uint64_t value, uint64_t *number)
{
	if (!link_flags_there(link))
		remember_flags(link);
	return direct_flag(&link->peer->direct, before, value, word, number);
}

int link_send_posted(struct link *link)
{
	uint64_t unused;

	/* Pairs with the flag_load in link_post_is_there at the origin. */
	return link_write_flag(link, offsetof(struct flag_pair, posted), link->posted_sent - 1, link->posted_sent, &unused);
}

/* Leaves the flag to the service thread; false: the link has just become ready. */
static bool queue_post(struct link *link)
{
	bool queued;

	pthread_mutex_lock(&link->peer->lock);
	queued = link_state(link) != LINK_READY;
	link->post_queued = queued;
	pthread_mutex_unlock(&link->peer->lock);
	return queued;
}

int link_post_later(struct oriel_win *win, struct link *link)
{
	int rc = link_prefetch(win, link);

	return rc || queue_post(link) ? rc : link_send_posted(link);
}

void link_map(struct link *link)
{
	void *here;

	if (link_remote_regions(link)) {
		link->route = ROUTE_REGIONS;
		return;
	}
	link->route = direct_has_copy_sync(&link->peer->direct) ? ROUTE_SYNC : ROUTE_RDMA;
	if (link->read_only && !link->peer->direct.self)
		return;
	if (!direct_map(&link->peer->direct, (struct remote){ link->base, link->rkey }, link->size_bytes, &here))
		return;
	link->page_shift = page_shift((uintptr_t)here, link->base) & LINK_PAGE_SHIFT_MASK;
	link->base = (uintptr_t)here;
	link->route = ROUTE_MAP;
	page_locks_map(link->peer);
}

static void unmap(struct link *link)
{
	if (link_mapped(link))
		direct_unmap(&link->peer->direct, (void *)(uintptr_t)link->base, link->size_bytes);
	link->route = ROUTE_NONE;
	signals_unmap(link);
}

static size_t link_bytes(const struct link *link)
{
	return sizeof(*link) + (link->ext ? sizeof(*link->ext) : 0);
}

static void link_free(struct link *link)
{
	remote_regions_free(link);
	unmap(link);
	free(link->ext);
	free(link);
}

void links_free(struct oriel_win *win)
{
	size_t bytes = win->links.capacity * sizeof(struct link *);

	for (uint32_t i = 0; i < win->links.capacity; i++) {
		if (!win->links.table[i])
			continue;
		bytes += link_bytes(win->links.table[i]);
		link_free(win->links.table[i]);
	}
	link_count_bytes(win->job, -(int)win->links.count, -(ptrdiff_t)bytes);
	free(win->links.table);
	win->links.table = NULL;
	win->links.count = 0;
	win->links.capacity = 0;
}

/* Waiting for one link, without win->lock. */

static int described_step(void *arg)
{
	const struct link_wait *waiting = arg;

	if (link_state(waiting->link) >= LINK_READY) /* or gone: the caller checks */
		return 1;
	wait_serve(waiting->win->job, waiting->link->peer);
	return 0;
}

static int granted_step(void *arg)
{
	const struct link_wait *waiting = arg;
	int rc;

	owned_lock_take(&waiting->win->lock);
	rc = link_grant(waiting->win, waiting->link) ? 1 : lock_error(waiting->win, waiting->link);
	owned_lock_give(&waiting->win->lock);
	if (rc == 0)
		wait_serve(waiting->win->job, waiting->link->peer);
	return rc;
}

static int waiting_watch(void *arg, struct wait *wait)
{
	const struct link_wait *waiting = arg;

	return link_watch(waiting->win, waiting->link, wait) ? 0 : win_peer_error(waiting->win, waiting->link->rank);
}

static int granted_watch(void *arg, struct wait *wait)
{
	const struct link_wait *waiting = arg;

	blocked_by_target(waiting->win, waiting->link, wait);
	return waiting_watch(arg, wait);
}

static int described_watch(void *arg, struct wait *wait)
{
	wait_blocked(wait, CAUSE_SETUP);
	return waiting_watch(arg, wait);
}

const struct waiter link_described = { described_step, described_watch };
static const struct waiter link_granted = { granted_step, granted_watch };

int link_await_grant(struct oriel_win *win, struct link *link, const char *call)
{
	struct link_wait waiting = { win, link };
	struct wait wait;
	int rc;

	wait_begin(&wait, win->job, call, win->label);
	owned_lock_give(&win->lock);
	rc = wait_until(&wait, &link_granted, &waiting);
	owned_lock_take(&win->lock);
	return rc;
}

void link_enter_lock_all(struct oriel_win *win, struct link *link)
{
	link->marks = (uint16_t)((link->marks & LINK_LASTING) | LINK_ACCESS | LINK_LOCK);
	if (win->locks.nocheck)
		link->marks |= LINK_NOCHECK | LINK_GRANTED;
}

int link_lock_all(struct oriel_win *win, int rank, const char *call)
{
	struct link *link;
	int rc = link_get(win, rank, &link);

	if (rc == 0)
		rc = link_prefetch(win, link);
	if (rc || link_lost(link))
		return rc;
	if (!(link->marks & LINK_ACCESS))
		link_enter_lock_all(win, link);
	if (link_grant(win, link))
		return 0;
	rc = link_await_grant(win, link, call);
	if (rc != ORIEL_ERR_PEER)
		return rc;
	if (!link->deferred && !(link->marks & LINK_TOUCHED))
		link->marks &= LINK_LASTING;
	return 0;
}
