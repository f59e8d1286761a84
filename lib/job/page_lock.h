// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_lock.h - locks for plain code that updates numbers in a rank's memory
 *
 * DESIGN NOTES
 *
 * Processors have no atomic operations on vectors, and none at all on floating numbers: 4 KiB of
 * bytes take 35 us by an instruction each, and .07 by plain code. So numbers (element.h: all that
 * one instruction stores but integers of 8 bytes), aligned, in memory that processors change, are
 * changed by plain code under a lock, by everybody: the rank itself, its handler, and those who
 * map its memory. A rank has PAGE_LOCKS such locks in its registered memory, for all its windows,
 * since these may overlap. They are striped over its memory, page after page, by the address at the
 * owner, of which all origins know as much. Ranks that work on different pages meet only by chance.
 * Memory that is in windows of two ranks, as with a window made over another's part of a shared
 * one, has two locks, and accumulates by both windows are not atomic with each other. Integers of 8
 * bytes are changed so where they come in vectors: atomic_mode.h. A page is no larger because
 * origins that add to places near each other, as in a histogram, would share its lock: with 16 KiB
 * two of them together had half the rate that they have with 4, for 3 % at 64 KiB.
 *
 * A lock is one word: 0, or the process that holds it, its number below and the time at which it
 * was known above, in seconds. It is taken by a compare-and-swap and given back by a store, so that
 * one element costs no more than its own compare-and-swap would; it is held while the elements of
 * some pages are changed, and never while waiting for anything else, but where a page's integers of
 * 8 bytes are to be numbers from now on.
 *
 * Deaths (A21). No message announces them: a thread that finds the lock held, and still held after
 * some turns, looks whether the holder is a process that has ended, and takes the lock from it.
 * From then on nothing of the dead one is stored any more. It has changed its elements up, or down,
 * to some place, each by one store, which is as good an outcome as any. Those who map memory are of
 * one pid namespace (base/place.h); a number given anew to another process does not pass for the
 * one that had it.
 *
 * A live holder goes on by itself, unless it is stopped (SIGSTOP, a debugger) in the middle of some
 * pages: a microsecond of its life. Plain code cannot be helped out by others. So page_trylock does
 * not wait: it says "not now", and the operation is issued again as one for which there is no room
 * (ISSUE_LATER, AM_LATER), by waits that have their limits and watch for deaths.
 *
 * Mutexes of the system are robust too, but cost two atomic instructions and a list for each
 * element, and their layout belongs to the C library of each rank.
 */
#ifndef ORIEL_PAGE_LOCK_H
#define ORIEL_PAGE_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "verbs/slab.h"

#define PAGE_LOCKS 32
#define LOCKED_PAGE_BYTES 4096u
#define UPDATE_WINDOWS 55
#define UPDATERS_MAX 128 /* ranks that have a place for theirs at one owner */

struct oriel_job;
struct peer;

struct page_lock {
	_Alignas(64) uint64_t holder; /* its process, or 0: by whoever holds it, or takes it */
};

/* Which updates of one rank are in progress (atomic_mode.h); written by that rank alone. */
struct updates {
	_Alignas(64) uint64_t process;
	uint8_t window[UPDATE_WINDOWS]; /* by slot; 1: in progress */
	uint8_t handler;                /* the owner's, of active messages that it applies */
};

/* The locks of one rank, in registered memory of that rank. */
struct page_lock_table {
	struct page_lock list[PAGE_LOCKS];
	_Alignas(64) uint32_t modes[PAGE_LOCKS]; /* enum atomic_mode: atomic_mode.h */
	struct updates updates[];                /* the owner's, and those of its neighbours by their numbers */
};

/* This rank's locks, and what it writes into locks that it holds. */
struct page_locks {
	struct piece piece; /* struct page_lock_table */
	uint64_t process;
	uint32_t updaters; /* places for them, at every rank alike */
	bool has_barrier;  /* our updates in progress are seen: atomic_mode.h */
	uint32_t rests;    /* vectors that make no try to change a mode, since one has failed; relaxed */
	uint32_t pins;     /* what has pinned our words; guarded by job->lock */
};

/* ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int page_locks_open(struct oriel_job *job);

/*
 * Memory of the peer's has been mapped here for the first time, or is our own: map its page locks
 * too, if that can be. If not, only its handler changes its numbers, from beginning to end.
 */
void page_locks_map(struct peer *peer);

/* The lock of an address at the owner, or of another that is the same modulo all of them. */
static inline uint32_t page_lock_index(uint64_t there)
{
	return (uint32_t)(there / LOCKED_PAGE_BYTES % PAGE_LOCKS);
}

static inline struct page_lock *page_lock_of(struct page_lock_table *table, uint64_t there)
{
	return &table->list[page_lock_index(there)];
}

/*
 * How many pages lie, modulo all of them, between an address here and that of the same byte there.
 */
static inline uint8_t page_shift(uint64_t here, uint64_t there)
{
	return (uint8_t)((there - here) / LOCKED_PAGE_BYTES % PAGE_LOCKS);
}

/* The bytes from an address to the end of its page. */
static inline size_t page_rest(uint64_t there)
{
	return LOCKED_PAGE_BYTES - there % LOCKED_PAGE_BYTES;
}

/* Whether a process that a lock names as its holder has ended. */
bool page_holder_ended(uint64_t process);

/*
 * The slow path, when others hold the lock: tries a few turns more, and takes it over from a dead
 * process.
 */
bool page_trylock_held(struct page_lock *page_lock, uint64_t process);

/* Takes the lock if it is free. Pairs with page_unlock: what the holder before has done is seen. */
static inline bool page_trylock_free(struct page_lock *page_lock, uint64_t process)
{
	return holder_change(&page_lock->holder, 0, process);
}

/* False: not now. */
static inline bool page_trylock(struct page_lock *page_lock, uint64_t process)
{
	return page_trylock_free(page_lock, process) || page_trylock_held(page_lock, process);
}

static inline void page_unlock(struct page_lock *page_lock)
{
	flag_store(&page_lock->holder, 0); /* pairs with holder_change in page_trylock_free */
}

#endif
