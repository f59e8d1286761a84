// SPDX-License-Identifier: BSD-2-Clause
/*
 * fence.c - fence: complete one's own operations, then a dissemination barrier over flag words
 *
 * DESIGN NOTES
 *
 * In round r a member writes to its partner (dissemination.h) and waits for a word. Fence number n
 * writes n into word [n mod 2][r]. A partner can be one fence ahead of a member that still waits in
 * an earlier round; it then writes into the other set. It cannot be two ahead, since that takes
 * every member's entry into the fence between. So a word goes from n - 2 to n, and the reader waits
 * for exactly n.
 *
 * A target learns of others' data through its partners, so all data is placed before the barrier:
 * by the acknowledged completion, which RC gives; or, if barrier words may be a processor's stores
 * and the device acknowledges too early for them, by that of a read behind the data (device.h).
 *
 * Puts to the partner of the first round are an exception. There the word is *piggybacked* on them:
 * it is a request behind theirs on the same queue pair. The partner does not pass without this
 * word, so it finds the puts, and so do members that learn of this member's entry from the partner.
 * All others learn it from later rounds, which wait until the puts are complete. Two ranks have no
 * later round: their fence takes one trip instead of three. On return, copied puts may still be in
 * flight, as after complete. So piggybacking is for devices that keep in order what is issued to a
 * member, before the fence and after it.
 *
 * A member that leaves because of a death reports it by a control message to the members that it
 * has not written to, and they do the same.
 *
 * A member that knows of a death before the barrier writes no words: its own operations may have
 * failed with that death, or been left out after the previous fence's error. Every member depends
 * on every other, so no member passes.
 */
#include <string.h>

#include "base/err.h"
#include "job/group.h"
#include "job/job.h"
#include "win/blocked.h"
#include "win/link.h"
#include "conn/ctrl_msg.h"
#include "base/order.h"
#include "op/enter.h"
#include "op/flush.h"
#include "op/issue.h"
#include "win/origin.h"
#include "win/epoch.h"
#include "base/dissemination.h"
#include "base/util.h"
#include "sync/wait.h"
#include "win/win.h"

#define FENCE_ASSERTIONS (ORIEL_MODE_NOSTORE | ORIEL_MODE_NOPUT | ORIEL_MODE_NOPRECEDE | ORIEL_MODE_NOSUCCEED)

static int partner_rank(const struct oriel_win *win, int round, int direction)
{
	return dissemination_partner(win->group->size, win->group->my_rank, round, direction);
}

static int fence_check(struct oriel_win *win, int assertions)
{
	if (assertions & ~FENCE_ASSERTIONS)
		return err_set(ORIEL_ERR_ARG, "oriel_win_fence: %s: assertions 0x%x, legal are bits of 0x%x", win->label,
		               (unsigned)assertions, FENCE_ASSERTIONS);
	return epoch_check(win, CALL_FENCE, "oriel_win_fence");
}

/* Returns the index of this round's fence word. */
static uint64_t fence_word(const struct fence *fence)
{
	return control_fence_word(fence->barrier.rounds, fence->number % CONTROL_FENCE_SETS, fence->barrier.round);
}

/*
 * Returns the world rank whose death has ended the fence of a member that this one depends on, or
 * ORIEL_RANK_NONE.
 */
static int reported_dead(struct oriel_win *win)
{
	uint8_t id[16];

	fence_failed_id(win, id);
	for (int round = 0; round < win->fence.barrier.rounds; round++) {
		struct peer *peer = peer_find(win->job, win_world_rank(win, partner_rank(win, round, -1)));
		struct ctrl_msg msg;

		if (peer && ctrl_msg_take(peer, id, 0, &msg))
			return msg.culprit;
	}
	return ORIEL_RANK_NONE;
}

/* Returns the link that an unsent word waits for. */
static const struct link *link_before_word(const struct fence *fence)
{
	int round = fence->barrier.round;

	return fence->piggybacked && round > 0 ? fence->piggybacked : fence->partner[round].link;
}

/* Returns the awaited member's rank in the window's group. */
static int awaited_rank(const struct oriel_win *win)
{
	const struct dissemination *d = &win->fence.barrier;

	return d->sent ? partner_rank(win, d->round, -1) : link_before_word(&win->fence)->rank;
}

struct fencing {
	struct oriel_win *win;
	int partner;          /* awaited_rank, or ORIEL_RANK_NONE */
	struct peer *awaited; /* this partner */
	int dead;             /* world rank that ends this fence, or ORIEL_RANK_NONE */
};

static void blocked_before_word(struct oriel_win *win, struct wait *wait)
{
	const struct link *link = link_before_word(&win->fence);

	if (link == win->fence.piggybacked)
		blocked_by_target(win, link, wait);
	else
		wait_blocked(wait, CAUSE_SETUP);
}

/*
 * Ends the fence after a death that this rank has seen, or a member that it depends on has
 * reported, or if the awaited member leaves the window. Called by a wait's periodic check.
 */
static int fence_watch(void *arg, struct wait *wait)
{
	struct fencing *f = arg;
	bool there = wait->check ? link_watch_member(f->win, f->partner, wait) : wait_watch(wait, f->awaited);

	if (!f->win->fence.barrier.sent)
		blocked_before_word(f->win, wait);
	blocked_by(f->win, wait, CAUSE_FENCE, f->awaited, f->win->fence.number);
	if (!there)
		f->dead = f->awaited->rank;
	if (f->dead == ORIEL_RANK_NONE)
		f->dead = job_dead_member(f->win->job, f->win->group);
	if (f->dead == ORIEL_RANK_NONE)
		f->dead = reported_dead(f->win);
	return f->dead == ORIEL_RANK_NONE ? 0 : ORIEL_ERR_PEER;
}

/* Writes this round's word behind the puts. Requests a completion if one is waited for. */
static int piggyback(const struct fence *fence, uint64_t before, struct remote word)
{
	struct link *link = fence->piggybacked;
	struct wire *wire = &link->peer->wire;

	if (link->marks & LINK_WAITING || fence->barrier.rounds > 1)
		return wire_flag_signalled(wire, before, fence->number, word, &link->last_number);
	return wire_flag(wire, before, fence->number, word, &link->last_number);
}

/* Writes this round's word. Pairs with the flag_load in word_comes of the partner. */
static inline int write_word(const struct fence *fence, struct fence_partner *partner, uint64_t index)
{
	uint64_t before = fence->number > 2 ? fence->number - 2 : 0;
	struct remote word = partner->words;

	word.addr += index * sizeof(uint64_t);
	if (fence->piggybacked == partner->link)
		return piggyback(fence, before, word);
	return direct_flag(&partner->link->peer->direct, before, fence->number, word, &partner->link->last_number);
}

/* Finds this round's partner and its words. Returns 1: found, 0, or an error. */
static int find_partner(struct oriel_win *win, struct fence_partner *partner)
{
	int rc = partner->link ? 0 : link_get(win, partner_rank(win, win->fence.barrier.round, 1), &partner->link);

	if (rc)
		return rc;
	if (link_lost(partner->link))
		return ORIEL_ERR_PEER;
	if (link_state(partner->link) != LINK_READY)
		return link_prefetch(win, partner->link);
	if (direct_has_stores(&partner->link->peer->direct))
		partner->there = direct_word(&partner->link->peer->direct, partner->words);
	partner->found = true;
	return 1;
}

/* From the second round on, words wait until the puts with the piggybacked word are complete. */
static int await_piggybacked(struct oriel_win *win, bool first)
{
	int step = flush_link(win, win->fence.piggybacked, false, first);

	if (step > 0)
		win->fence.piggybacked = NULL;
	return step;
}

/* Sends this round's word, behind the data. Returns 1: sent, 0: not yet, or an error. */
static inline __attribute__((always_inline)) int send_word(struct oriel_win *win, uint64_t word, bool first)
{
	struct fence *fence = &win->fence;
	struct fence_partner *partner = &fence->partner[fence->barrier.round];
	int rc = fence->piggybacked && fence->barrier.round > 0 ? await_piggybacked(win, first) : 1;

	if (rc > 0 && (!partner->found || link_lost(partner->link)))
		rc = find_partner(win, partner);
	if (rc <= 0)
		return rc;
	if (partner->there && fence->piggybacked != partner->link)
		flag_store(&partner->there[word], fence->number); /* pairs as in write_word */
	else if (write_word(fence, partner, word))
		return ORIEL_ERR_PEER;
	return 1;
}

/* Returns whether this round's word is there; in a first look, polls a few times. */
static inline bool word_comes(const struct oriel_win *win, uint64_t word, bool first)
{
	const struct fence *fence = &win->fence;
	bool is_there = flag_load(&fence->words[word]) == fence->number; /* pairs with write_word of the partner */

	for (uint32_t looks = is_there || !first ? 0 : win_looks(win); !is_there && looks > 0; looks--)
		is_there = flag_load(&fence->words[word]) == fence->number;
	return is_there;
}

/* Runs the rounds as far as possible now. Returns 1: all, 0, or an error. Under win->lock. */
static inline __attribute__((always_inline)) int barrier_step(struct oriel_win *win, bool first)
{
	struct fence *fence = &win->fence;
	struct dissemination *d = &fence->barrier;

	for (; d->round < d->rounds; d->round++, d->sent = false) {
		uint64_t word = fence_word(fence);
		int rc = d->sent ? 1 : send_word(win, word, first);

		if (rc <= 0)
			return rc;
		d->sent = true;
		if (!word_comes(win, word, first))
			return 0;
	}
	return 1;
}

static int serve_awaited(struct fencing *f)
{
	int rank = awaited_rank(f->win), rc = 0;

	if (rank != f->partner)
		rc = peer_get(f->win->job, win_world_rank(f->win, rank), &f->awaited);
	if (rc)
		return rc;
	f->partner = rank;
	wait_serve(f->win->job, f->awaited);
	return 0;
}

static int barrier_turn(void *arg)
{
	struct fencing *f = arg;
	int rc;

	owned_lock_take(&f->win->lock);
	rc = barrier_step(f->win, false);
	owned_lock_give(&f->win->lock);
	return rc ? rc : serve_awaited(f);
}

/* Reports the death to the members that this rank has not written to. */
static void tell_successors(struct oriel_win *win, int dead, struct wait *wait)
{
	for (int round = win->fence.barrier.round; round < win->fence.barrier.rounds; round++) {
		struct ctrl_msg msg = { .code = ORIEL_ERR_PEER, .culprit = dead };
		struct peer *peer = peer_find(win->job, win_world_rank(win, partner_rank(win, round, 1)));

		fence_failed_id(win, msg.id);
		if (peer && state_load(&peer->state) == PEER_UP)
			ctrl_msg_send(peer, &msg, wait);
	}
}

static int known_dead(const struct oriel_win *win)
{
	if (counter_load(&win->job->deaths.count) == 0) /* pairs with rank_lost */
		return ORIEL_RANK_NONE;
	return job_dead_member(win->job, win->group);
}

/*
 * Waits until the program has its memory back; a lost partner ends that, without a second report. A
 * failed barrier cannot be repeated, so this cannot time out.
 */
static int end_piggybacked(struct oriel_win *win, bool failed)
{
	struct link *link = win->fence.piggybacked;
	int rc;

	if (!link)
		return 0;
	owned_lock_take(&win->lock);
	do {
		rc = flush_run(win, link, NULL, true, "oriel_win_fence");
	} while (failed && wait_can_repeat(rc));
	owned_lock_give(&win->lock);
	return rc;
}

static int barrier(struct oriel_win *win)
{
	static const struct waiter waiter = { barrier_turn, fence_watch };
	struct fencing f = { .win = win, .partner = ORIEL_RANK_NONE, .dead = known_dead(win) };
	struct wait wait;
	int rc = ORIEL_ERR_PEER;

	wait_begin(&wait, win->job, "oriel_win_fence", win->label);
	if (f.dead == ORIEL_RANK_NONE)
		rc = wait_until(&wait, &waiter, &f);
	if (rc == 0)
		return end_piggybacked(win, false);
	if (rc != ORIEL_ERR_PEER)
		return rc;
	if (f.dead == ORIEL_RANK_NONE)
		f.dead = win_world_rank(win, awaited_rank(win));
	tell_successors(win, f.dead, &wait);
	end_piggybacked(win, true);
	return peer_error(win->job, f.dead);
}

/* Returns false if both assertions are given, as they then are at all members. */
static bool needs_barrier(int assertions)
{
	return !(assertions & ORIEL_MODE_NOPRECEDE) || !(assertions & ORIEL_MODE_NOSUCCEED);
}

/* Begins a fence, or continues the one that timed out. The caller holds win->lock. */
static void fence_begin(struct oriel_win *win, int assertions)
{
	struct fence *fence = &win->fence;

	bool repeated = win->sync & SYNC_FENCE_BEGUN;

	win->sync |= SYNC_FENCING;
	gate_close_all(win);
	if (repeated || !needs_barrier(assertions))
		return;
	win->sync |= SYNC_FENCE_BEGUN;
	fence->number++;
	fence->barrier.round = 0;
	fence->barrier.sent = false;
}

static int fence_run(struct oriel_win *win, int assertions, int rc)
{
	int barrier_rc;

	if (wait_can_repeat(rc) || !needs_barrier(assertions))
		return rc;
	barrier_rc = barrier(win);
	return barrier_rc ? barrier_rc : rc;
}

/*
 * Forgets the piggybacked link, on which copied puts may be in flight. The caller holds win->lock.
 */
static void leave_piggybacked(struct oriel_win *win)
{
	struct link *link = win->fence.piggybacked;

	link_leave_copied(win, link);
	link->marks &= (uint16_t) ~(LINK_TOUCHED | LINK_WAITING);
	win->fence.piggybacked = NULL;
}

/* Ends the fence epoch. The caller holds win->lock. */
static inline void fence_over(struct oriel_win *win, bool succeeded)
{
	win->sync &= ~(unsigned)(SYNC_FENCING | SYNC_FENCE | SYNC_FENCE_USED | SYNC_FENCE_BEGUN);
	if (succeeded)
		win->sync |= SYNC_FENCE;
}

/* Ends the fence unless it can be repeated. Returns the result of oriel_win_fence. */
static int fence_end(struct oriel_win *win, int assertions, int rc)
{
	owned_lock_take(&win->lock);
	if (wait_can_repeat(rc)) {
		win->sync &= ~(unsigned)SYNC_FENCING;
	} else {
		if (win->fence.piggybacked)
			leave_piggybacked(win);
		fence_over(win, rc == 0 && !(assertions & ORIEL_MODE_NOSUCCEED));
		release_epoch_mrs(win);
	}
	owned_lock_give(&win->lock);
	return rc ? err_in(rc, "oriel_win_fence") : win_tell_sticky(win, "oriel_win_fence");
}

#define PIGGYBACK_MARKS (LINK_TOUCHED | LINK_GOT | LINK_AM)

/*
 * Returns whether the device keeps requests to the member in order. It does not if writes may
 * overtake each other, or an atomics peer changes words (acc_device.c).
 */
static inline bool keeps_order(const struct link *link)
{
	const struct device *device = link->peer->device;

	return link->peer->wire.flag_mode == FLAG_WRITE && !device->read_behind &&
	       !(link->words == WORDS_BY_DEVICE && device_maps_memory(device));
}

/*
 * Returns the link to the first partner, if all that is in flight to it are puts that the word and
 * later operations stay behind; else NULL.
 */
static inline struct link *find_piggybacked(const struct oriel_win *win)
{
	struct link *link = win->fence.barrier.rounds > 0 ? win->fence.partner[0].link : NULL;

	if (!link || (link->marks & PIGGYBACK_MARKS) != LINK_TOUCHED || link_mapped(link) || link->deferred || link_lost(link) ||
	    !keeps_order(link))
		return NULL;
	return link;
}

/* The first look. Returns whether all is done, and the program has its memory back. */
static inline bool meet(struct oriel_win *win)
{
	const struct fence *fence = &win->fence;

	if (counter_load(&win->job->deaths.count) > 0 || barrier_step(win, true) <= 0) /* the load pairs with rank_lost */
		return false;
	return !fence->piggybacked || flush_link(win, fence->piggybacked, true, true) > 0;
}

/* Completes the operations before the barrier. Those with the piggybacked word may follow it. */
static int complete_data(struct oriel_win *win, int assertions)
{
	struct fence *fence = &win->fence;

	if ((assertions & ORIEL_MODE_NOPRECEDE) || !(win->sync & SYNC_FENCE_USED))
		return 0;
	if (fence->barrier.round == 0 && !fence->barrier.sent)
		fence->piggybacked = assertions || win->epoch_mrs.count > 0 ? NULL : find_piggybacked(win);
	return flush_run(win, NULL, fence->piggybacked, false, "oriel_win_fence");
}

int oriel_win_fence(oriel_win *win, int assertions)
{
	int rc = win_enter_at_once(win) ? 0 : win_enter_closing(win, "oriel_win_fence");

	if (rc)
		return rc;
	rc = fence_check(win, assertions);
	if (rc)
		return win_leave_with(win, rc);
	fence_begin(win, assertions);
	rc = complete_data(win, assertions);
	if (rc == 0 && !assertions && meet(win)) {
		if (win->fence.piggybacked)
			leave_piggybacked(win);
		fence_over(win, true);
		if (win->epoch_mrs.count > 0)
			release_epoch_mrs(win);
		win_leave(win);
		return win_tell_sticky(win, "oriel_win_fence"); /* operations before it may have failed (A23) */
	}
	win_leave(win);
	return fence_end(win, assertions, fence_run(win, assertions, rc));
}
