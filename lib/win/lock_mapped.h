// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_mapped.h - the lock of a member whose words are mapped, by loads and stores
 *
 * A free lock takes few loads and no function call, so the fast paths of lock and unlock save no
 * registers. lock_words.c explains the protocol, and handles contention. The caller of each
 * function holds win->lock.
 */
#ifndef ORIEL_LOCK_MAPPED_H
#define ORIEL_LOCK_MAPPED_H

#include "base/util.h"
#include "win/epoch.h"
#include "win/lock_access.h"

#define SHORT_HOLD_LOOKS 64 /* polls for a holder that is about to leave, some microseconds */

/* Returns whether `serving` is served. Pairs with lock_pass_on. */
static inline bool lock_serves(const struct lock_header *header, uint64_t serving)
{
	return flag_load(&header->serving) == serving && flag_load(&header->serving_complement) == ~serving;
}

static inline void lock_grant(struct lock *lock)
{
	lock->phase = PHASE_HELD;
	lock->orphaned = lock->image.header.orphaned;
}

/*
 * Grants without another reading. The counts are read after the words that grant: a death is
 * counted first.
 */
static inline bool lock_grant_mapped(struct lock *lock)
{
	lock->image.header.orphaned = flag_load(&lock->header->orphaned);
	lock->image.header.repaired = flag_load(&lock->header->repaired);
	lock_grant(lock);
	return true;
}

/* Returns whether a shared lock is held: there is no writer. */
static inline bool lock_ask_mapped(struct lock *lock)
{
	return lock_serves(lock->header, flag_load(&lock->header->next)) && lock_grant_mapped(lock);
}

/* Returns whether no other member uses the lock. Pairs with lock_store_state. */
static inline bool lock_nobody_else(const struct lock *lock)
{
	const struct lock_member *member = lock->part[0].here;
	uint64_t states = 0;

	if (lock->part_count > 1 || lock->header->more.check)
		return false;
	for (uint32_t i = 0; i < LOCK_FIRST_MEMBERS; i++)
		states += flag_load(&member[i].state) & 0xff;
	return states == LOCK_INTENT; /* our own */
}

/* Returns whether our ticket is served, now or after one short hold. */
static inline bool lock_turn_comes(const struct lock_header *header, uint64_t ticket)
{
	for (int looks = 0; looks < SHORT_HOLD_LOOKS; looks++) {
		if (lock_serves(header, ticket))
			return true;
		if (ticket - flag_load(&header->serving) > 1)
			return false;
		cpu_relax();
	}
	return false;
}

/* Draws a ticket, after INTENT; returns whether the lock is held. */
static inline bool lock_draw_mapped(struct lock *lock)
{
	lock->fetched = lock->ticket = ticket_draw(&lock->header->next); /* pairs with load_header */
	return lock_turn_comes(lock->header, lock->ticket) && lock_nobody_else(lock) && lock_grant_mapped(lock);
}

/* Serves the next ticket. Pairs with load_header at the waiting rank. */
static inline void lock_pass_on(struct lock *lock)
{
	flag_store(&lock->header->serving_complement, ~(lock->ticket + 1));
	flag_store(&lock->header->serving, lock->ticket + 1);
}

static inline void lock_begin(struct lock *lock, bool exclusive)
{
	lock->exclusive = exclusive;
	lock->read_ns = lock->serving_seen = lock->serving_ns = 0;
	lock->drain_limit_ns = LOCK_DRAIN_NS;
	lock->confirm = 0;
}

/*
 * Makes the first step towards a known lock whose tickets no card draws. False: lock_step
 * continues.
 */
static inline bool lock_take_mapped(struct lock *lock, bool exclusive)
{
	lock_begin(lock, exclusive);
	if (exclusive) {
		lock->phase = PHASE_DRAWN;
		lock->ticket_shown = false;
		lock_store_state(lock, LOCK_INTENT);
		return lock_draw_mapped(lock);
	}
	lock->phase = PHASE_ASKED;
	lock_store_state(lock, LOCK_ASK);
	return lock_ask_mapped(lock);
}

/* Returns the lock of a living member, if it is known, mapped and unused here; or NULL. */
static inline struct lock *lock_idle(const struct oriel_win *win, const struct link *link)
{
	struct lock *lock;

	if (!link || link->marks & LINK_LOCK || link_state(link) != LINK_READY)
		return NULL;
	lock = lock_of(win, link);
	return lock && lock->phase == PHASE_IDLE && lock->header && !(lock->flags & DIR_NEXT_BY_DEVICE) ? lock : NULL;
}

/* Makes a living member a target of lock_all. False: link_grant continues. */
static inline bool lock_enter_all_mapped(struct oriel_win *win, struct link *link)
{
	struct lock *lock = lock_idle(win, link);

	if (!lock || win->locks.nocheck)
		return false;
	link_enter_lock_all(win, link);
	if (!lock_take_mapped(lock, false))
		return false;
	link->marks |= LINK_GRANTED;
	return true;
}

/*
 * Returns the lock that this rank holds at a living member to which no operation is outstanding or
 * deferred; or NULL.
 */
static inline struct lock *lock_held(const struct oriel_win *win, const struct link *link)
{
	const unsigned known = LINK_ACCESS | LINK_GRANTED | LINK_TOUCHED | LINK_WAITING | LINK_FLAGGED | LINK_CLOSED |
	                       LINK_NOCHECK | LINK_LOCK | LINK_LOCKING;
	struct lock *lock;

	if (!link || (link->marks & known) != (LINK_ACCESS | LINK_GRANTED | LINK_LOCK) || link->deferred ||
	    link_state(link) != LINK_READY)
		return NULL;
	lock = lock_of(win, link);
	return lock && lock->header ? lock : NULL;
}

/* Marks the deaths before our grant as reported. */
static inline void lock_store_repaired(struct lock *lock)
{
	if (lock->orphaned != lock->image.header.repaired)
		flag_store(&lock->header->repaired, lock->orphaned); /* pairs with load_header */
}

/* Releases the lock, not ordered behind outstanding requests. */
static inline void lock_release_mapped(struct lock *lock)
{
	if (lock->exclusive) {
		lock_store_repaired(lock);
		lock_pass_on(lock);
	}
	lock_store_state(lock, LOCK_ABSENT);
	lock->phase = PHASE_IDLE;
}

#endif
