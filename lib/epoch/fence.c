// SPDX-License-Identifier: BSD-2-Clause
/*
 * fence.c - fence: complete one's own operations, then a dissemination barrier over flag words
 *
 * DESIGN NOTES
 *
 * In round r a member writes to the one 2^r places after it and waits for a word of the one 2^r
 * places before it. A member's words are written by one partner each: word [set][r] by the partner
 * of round r. Fence number n uses set n mod 2 and writes n: a partner can be one whole fence ahead
 * of a member that still waits in an earlier round, and writes then into the other set; it cannot
 * be two ahead, since that takes everybody's entry into the fence between. So a word goes from n -
 * 2 to n, and the reader waits for exactly n.
 *
 * A target learns of others' data through its partners, so before the barrier all data is placed:
 * the acknowledged completion, which RC gives.
 *
 * A member that leaves with an error (somebody has died or cannot be reached) tells those it has
 * not written to yet, by mail, who then do the same: they could have waited for ever, if only this
 * member saw the death.
 */
#include <string.h>

#include "base/err.h"
#include "job/group.h"
#include "job/job.h"
#include "verbs/lend.h"
#include "win/link.h"
#include "job/mail.h"
#include "base/order.h"
#include "op/enter.h"
#include "op/flush.h"
#include "win/origin.h"
#include "win/epoch.h"
#include "base/dissemination.h"
#include "base/util.h"
#include "job/wait.h"
#include "win/win.h"

#define FENCE_ASSERTIONS (ORIEL_MODE_NOSTORE | ORIEL_MODE_NOPUT | ORIEL_MODE_NOPRECEDE | ORIEL_MODE_NOSUCCEED)

/* The member this round sends to, or hears from. */
static int partner_rank(const struct oriel_win *win, int round, int direction)
{
	return dissemination_partner(win->group->size, win->group->my_rank, round, direction);
}

static int fence_check(struct oriel_win *win, int assertions)
{
	if (assertions & ~FENCE_ASSERTIONS)
		return err_set(ORIEL_ERR_ARG, "oriel_win_fence: window %p: assertions 0x%x, legal are bits of 0x%x",
		               (void *)win, (unsigned)assertions, FENCE_ASSERTIONS);
	return epoch_check(win, CALL_FENCE, "oriel_win_fence");
}

/* The partner of this round, with its description; without the lock. */
static int find_partner(struct oriel_win *win, struct fence_partner *partner)
{
	int rc = 0;

	if (partner->link)
		return 0;
	owned_lock_take(&win->lock);
	rc = link_get(win, partner_rank(win, win->fence.round, 1), &partner->link);
	if (rc == 0)
		rc = link_prefetch(win, partner->link);
	owned_lock_give(&win->lock);
	return rc;
}

/* A member we depend on has left the fence in error: who is the cause, as world rank? */
static int told_of_death(struct oriel_win *win)
{
	uint8_t id[16];

	fence_failed_id(win, id);
	for (int round = 0; round < win->fence.rounds; round++) {
		struct peer *peer = peer_find(win->job, win_world_rank(win, partner_rank(win, round, -1)));
		struct mail mail;

		if (peer && mail_take(peer, id, 0, &mail))
			return mail.culprit;
	}
	return ORIEL_RANK_NONE;
}

/*
 * During a look, waiting for the partner: the world rank whose death, or leaving the window, ends
 * this fence, or ORIEL_RANK_NONE.
 */
static int look_for_dead(struct oriel_win *win, int partner, struct peer *peer, struct wait *wait)
{
	bool there = wait->check ? link_watch_member(win, partner, wait) : wait_watch(wait, peer);
	int dead = there ? ORIEL_RANK_NONE : peer->rank;

	wait_looked(wait);
	if (dead == ORIEL_RANK_NONE)
		dead = job_dead_member(win->job, win->group);
	return dead == ORIEL_RANK_NONE ? told_of_death(win) : dead;
}

static int send_word(struct oriel_win *win, struct wait *wait, int *dead)
{
	struct fence *fence = &win->fence;
	struct fence_partner *partner = &fence->partner[fence->round];
	uint64_t before = fence->number > 2 ? fence->number - 2 : 0;
	struct remote word;
	int rc = find_partner(win, partner);

	while (rc == 0 && *dead == ORIEL_RANK_NONE && link_state(partner->link) < LINK_READY) {
		rc = wait_pause(wait);
		if (rc == WAIT_LOOK) {
			*dead = look_for_dead(win, partner->link->rank, partner->link->peer, wait);
			rc = 0;
		}
	}
	if (rc == 0 && link_state(partner->link) == LINK_GONE)
		*dead = partner->link->peer->rank;
	if (rc || *dead != ORIEL_RANK_NONE)
		return rc;
	word = partner->words;
	word.addr += ((fence->number & 1) * (uint64_t)fence->rounds + (uint64_t)fence->round) * sizeof(uint64_t);
	/* Pairs with the flag_load in receive_word of the partner. The data before it is complete. */
	if (lend_flag(&partner->link->peer->wire, before, fence->number, word, &partner->link->last_number))
		*dead = partner->link->peer->rank;
	fence->sent = true;
	return 0;
}

static int receive_word(struct oriel_win *win, struct wait *wait, int *dead)
{
	struct fence *fence = &win->fence;
	uint64_t set = fence->number & 1;
	const uint64_t *word = &fence->words[set * (uint64_t)fence->rounds + (uint64_t)fence->round];
	struct peer *from = NULL;

	while (flag_load(word) != fence->number) { /* pairs with send_word of the partner */
		int rc;

		if (!from && peer_get(win->job, win_world_rank(win, partner_rank(win, fence->round, -1)), &from))
			return ORIEL_ERR_MEMORY;
		rc = wait_for(wait, from);
		if (rc < 0)
			return rc;
		if (rc == WAIT_LOOK)
			*dead = look_for_dead(win, partner_rank(win, fence->round, -1), from, wait);
		if (*dead != ORIEL_RANK_NONE)
			return 0;
	}
	return 0;
}

/* Tell the members that this rank has not written to in this fence that it will not. */
static void tell_successors(struct oriel_win *win, int dead, struct wait *wait)
{
	for (int round = win->fence.round; round < win->fence.rounds; round++) {
		struct mail mail = { .code = ORIEL_ERR_PEER, .culprit = dead };
		struct peer *peer = peer_find(win->job, win_world_rank(win, partner_rank(win, round, 1)));

		fence_failed_id(win, mail.id);
		if (peer && state_load(&peer->state) == PEER_UP)
			mail_send(peer, &mail, wait);
	}
}

/* Go on with the barrier. *dead becomes a world rank if one spoils it. */
static int barrier_run(struct oriel_win *win, struct wait *wait, int *dead)
{
	struct fence *fence = &win->fence;

	for (; fence->round < fence->rounds; fence->round++, fence->sent = false) {
		int rc = fence->sent ? 0 : send_word(win, wait, dead);

		if (rc == 0 && *dead == ORIEL_RANK_NONE)
			rc = receive_word(win, wait, dead);
		if (rc || *dead != ORIEL_RANK_NONE)
			return rc;
	}
	return 0;
}

static int barrier(struct oriel_win *win)
{
	int rc, dead = ORIEL_RANK_NONE;
	struct wait wait;

	wait_begin(&wait, win->job, "oriel_win_fence", win);
	rc = barrier_run(win, &wait, &dead);
	if (dead == ORIEL_RANK_NONE)
		return rc;
	tell_successors(win, dead, &wait);
	return peer_error(win->job, dead);
}

/* With both assertions nobody has anything to wait for, and all members say so. */
static bool needs_barrier(int assertions)
{
	return !(assertions & ORIEL_MODE_NOPRECEDE) || !(assertions & ORIEL_MODE_NOSUCCEED);
}

/* Begin a fence, or go on with the one that timed out. The caller holds the lock. */
static void fence_begin(struct oriel_win *win, int assertions)
{
	struct fence *fence = &win->fence;

	bool repeated = win->sync & SYNC_FENCE_BEGUN;

	win->sync |= SYNC_FENCING;
	if (repeated || !needs_barrier(assertions))
		return;
	win->sync |= SYNC_FENCE_BEGUN;
	fence->number++;
	fence->round = 0;
	fence->sent = false;
}

static int fence_run(struct oriel_win *win, int assertions, bool used)
{
	int rc = 0, barrier_rc;

	if (!(assertions & ORIEL_MODE_NOPRECEDE) && used)
		rc = flush_run(win, ORIEL_RANK_ALL, false, "oriel_win_fence");
	if (rc == ORIEL_ERR_TIMEOUT || rc == ORIEL_ERR_MEMORY)
		return rc;
	if (!needs_barrier(assertions))
		return rc;
	barrier_rc = barrier(win);
	return barrier_rc ? barrier_rc : rc;
}

static void fence_end(struct oriel_win *win, int assertions, int rc)
{
	owned_lock_take(&win->lock);
	win->sync &= ~(unsigned)SYNC_FENCING;
	if (rc != ORIEL_ERR_TIMEOUT && rc != ORIEL_ERR_MEMORY) {
		win->sync &= ~(unsigned)(SYNC_FENCE | SYNC_FENCE_USED | SYNC_FENCE_BEGUN);
		if (rc == 0 && !(assertions & ORIEL_MODE_NOSUCCEED))
			win->sync |= SYNC_FENCE;
		release_epoch_mrs(win);
	}
	owned_lock_give(&win->lock);
}

int oriel_win_fence(oriel_win *win, int assertions)
{
	int rc = win_enter_closing(win, "oriel_win_fence");
	bool used;

	if (rc)
		return rc;
	rc = fence_check(win, assertions);
	used = win->sync & SYNC_FENCE_USED;
	if (rc == 0)
		fence_begin(win, assertions);
	win_leave(win);
	if (rc)
		return rc;
	rc = fence_run(win, assertions, used);
	fence_end(win, assertions, rc);
	return rc ? err_in(rc, "oriel_win_fence") : win_tell_sticky(win, "oriel_win_fence");
}
