// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_given_up.c - locks whose epoch ends without unlock: the call timed out, or the window is
 * freed after a death
 *
 * A drawn ticket cannot be returned. The service thread continues the steps and releases the lock
 * once it is granted, unless another call takes it over before.
 */
#include "base/order.h"
#include "job/service_queue.h"
#include "job/job.h"
#include "win/epoch.h"
#include "win/lock_access.h"
#include "win/lock_words.h"

#define GIVEN_UP_NS (100 * NS_PER_MS) /* in which a call can take over a granted lock */

static void hand_given_up(struct oriel_win *win);

/* Makes one step; releases a granted lock. Returns whether the lock is done with. */
static bool given_up_step(struct oriel_win *win, struct link *link, struct lock *lock)
{
	uint16_t marks = link->marks;

	if (link_lost(link))
		lock->given_up_ns = 0;
	else if (lock_phase_step(win, link, lock) > 0 &&
	         ((win->sync & SYNC_FREEING) || now_ns() - lock->given_up_ns > GIVEN_UP_NS)) {
		lock_release(win, link);
		wire_ring(&link->peer->wire);
		lock->given_up_ns = 0;
	}
	link->marks = marks;
	return lock->given_up_ns == 0;
}

/* Skips locks that a call has taken over. */
static void pass_given_up(void *arg)
{
	struct oriel_win *win = arg;
	bool left = false;

	owned_lock_take(&win->lock);
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		struct link *link = win->links.table[i];
		struct lock *lock = link ? lock_of(win, link) : NULL;

		if (lock && lock->given_up_ns)
			left |= !given_up_step(win, link, lock);
	}
	win->locks.handed = left;
	owned_lock_give(&win->lock);
	if (left)
		hand_given_up(win);
	else
		__atomic_sub_fetch(&win->lookups, 1, __ATOMIC_RELEASE); /* pairs with the load in no_lookups, free.c */
}

static void hand_given_up(struct oriel_win *win)
{
	struct oriel_job *job = win->job;

	win->locks.task = (struct task){ .run = pass_given_up, .arg = win, .when_ns = now_ns() + NS_PER_MS };
	service_queue_add(job, &win->locks.task);
}

void lock_give_up(struct oriel_win *win, struct link *link)
{
	struct lock *lock = lock_of(win, link);

	if (!lock || lock->phase <= PHASE_IDLE)
		return;
	lock->given_up_ns = now_ns();
	if (win->locks.handed)
		return;
	win->locks.handed = true;
	__atomic_add_fetch(&win->lookups, 1, __ATOMIC_RELAXED); /* keeps the window from being freed */
	hand_given_up(win);
}

/* Releases a lock after its operations; the device's retries bound the wait. */
static void give_back(struct oriel_win *win, struct link *link)
{
	struct wire *wire = &link->peer->wire;

	if (link->marks & LINK_GRANTED) {
		wire_wait(wire, link->last_number);
		lock_release(win, link);
	} else {
		lock_give_up(win, link);
	}
	wire_ring(wire);
}

void locks_give_back(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		struct link *link = win->links.table[i];

		if (!link || !(link->marks & LINK_LOCK))
			continue;
		if (link_lost(link))
			lock_release_lost(win, link);
		else if (!(link->marks & (LINK_NOCHECK | LINK_FLAGGED)))
			give_back(win, link);
		link->marks &= LINK_LASTING;
	}
}
