// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_lock.h - locks for plain code that updates numbers in a rank's memory
 *
 * DESIGN NOTES
 *
 * Processors have no atomic operations on vectors or floating-point numbers. So elements that have
 * one store (element.h), except aligned integers of 8 bytes, are changed by plain code under a
 * lock: by the rank itself, its handler, and ranks that map its memory or copy it. So are vectors
 * of 8-byte integers (atomic_mode.h). A rank has PAGE_LOCKS such locks in its registered memory for
 * all its windows, since these may overlap. They are striped over its memory by the page of an
 * element's first byte at the owner. Memory in windows of two ranks has two locks (A13).
 *
 * A lock is one word: 0, or its holder: the process number in the low half, and a time at which
 * that process lived, in seconds, in the high half. It is taken by a compare-and-swap and released
 * by a store. The holder waits for nothing else, except to switch the mode of 8-byte integers, and
 * to copy (issue_by_copies).
 *
 * Deaths (A21). A thread that finds the lock held for several turns checks whether the holder's
 * process has ended, and takes the lock over. The dead process has changed its elements up or down
 * to some point, each as a whole, which is a valid outcome. Ranks that map memory share a pid
 * namespace (base/process.h), and the time in the word tells the holder from a later process of the
 * same number.
 *
 * A live holder finishes in microseconds, unless it is stopped. So page_trylock does not wait: it
 * returns false, and the operation is issued again (ISSUE_LATER, AM_LATER), by waits that have time
 * limits and watch for deaths.
 */
#ifndef ORIEL_PAGE_LOCK_H
#define ORIEL_PAGE_LOCK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "verbs/slab.h"

#define PAGE_LOCKS 32
#define LOCKED_PAGE_BYTES 4096u
#define UPDATE_WINDOWS 55
#define UPDATERS_MAX 128 /* ranks with `updates` at one owner */

struct oriel_job;
struct peer;

struct page_lock {
	_Alignas(64) uint64_t holder;
};

/* The updates of one rank that are in progress (atomic_mode.h), which it alone writes. */
struct updates {
	_Alignas(64) uint64_t process;
	uint8_t window[UPDATE_WINDOWS]; /* by window slot; 1: in progress */
	uint8_t handler;                /* the owner's, for active messages */
};

/* The locks of one rank, in its registered memory. */
struct page_lock_table {
	struct page_lock list[PAGE_LOCKS];
	_Alignas(64) uint32_t modes[PAGE_LOCKS]; /* enum atomic_mode */
	struct updates updates[];                /* the owner's, then its neighbours' */
};

struct page_locks {
	struct piece piece; /* struct page_lock_table */
	uint64_t process;
	uint32_t updaters; /* places in `updates`, equal at all ranks */
	bool has_barrier;  /* the heavy barrier makes its updates visible (atomic_mode.h) */
	uint32_t rests;    /* vectors left that skip a switch of the mode; relaxed */
	uint32_t pins;     /* pins of its words; guarded by job->lock */
};

/* Makes this rank's locks. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int page_locks_open(struct oriel_job *job);

/* Maps the peer's page locks, if possible, once memory of the peer or of this rank is mapped. */
void page_locks_map(struct peer *peer);

static inline uint32_t page_lock_index(uint64_t there)
{
	return (uint32_t)(there / LOCKED_PAGE_BYTES % PAGE_LOCKS);
}

static inline struct page_lock *page_lock_of(struct page_lock_table *table, uint64_t there)
{
	return &table->list[page_lock_index(there)];
}

/*
 * Returns the distance in pages, modulo PAGE_LOCKS, from an address here to that of the byte there.
 */
static inline uint8_t page_shift(uint64_t here, uint64_t there)
{
	return (uint8_t)((there - here) / LOCKED_PAGE_BYTES % PAGE_LOCKS);
}

/* Returns the bytes from an address to the end of its page. */
static inline size_t page_rest(uint64_t there)
{
	return LOCKED_PAGE_BYTES - there % LOCKED_PAGE_BYTES;
}

bool page_holder_ended(uint64_t process);

/* The slow path: tries some more turns, and takes the lock over from a dead process. */
bool page_trylock_held(struct page_lock *page_lock, uint64_t process);

/*
 * Takes the lock if it is free. Pairs with page_unlock: the previous holder's changes are visible.
 */
static inline bool page_trylock_free(struct page_lock *page_lock, uint64_t process)
{
	return holder_change(&page_lock->holder, 0, process);
}

/* Takes the lock. Returns false if it is not free now. */
static inline bool page_trylock(struct page_lock *page_lock, uint64_t process)
{
	return page_trylock_free(page_lock, process) || page_trylock_held(page_lock, process);
}

static inline void page_unlock(struct page_lock *page_lock)
{
	flag_store(&page_lock->holder, 0); /* pairs with holder_change in page_trylock_free */
}

/* Locks of several pages. */

static inline void page_unlock_range(struct page_lock_table *table, uint64_t from, uint64_t to)
{
	for (; from < to; from += page_rest(from))
		page_unlock(page_lock_of(table, from));
}

/*
 * Locks the first pages, as far as they are free. Returns where the locked bytes end; `from`: none.
 */
static inline uint64_t page_trylock_first(struct page_lock_table *table, uint64_t process, uint64_t from, uint64_t to,
                                          uint32_t pages)
{
	uint64_t at = from + page_rest(from), most = at + (uint64_t)(pages - 1) * LOCKED_PAGE_BYTES;

	if (!page_trylock(page_lock_of(table, from), process))
		return from;
	while (at < to && at < most && page_trylock_free(page_lock_of(table, at), process))
		at += LOCKED_PAGE_BYTES;
	return at < to ? at : to;
}

/* Returns the locks of pages, a bit each. */
static inline uint32_t page_lock_set(uint64_t from, uint64_t size_bytes)
{
	uint64_t to = from + size_bytes;
	uint32_t set = 0;

	static_assert(PAGE_LOCKS == 32, "a bit for each");
	for (; from < to; from += page_rest(from))
		set |= UINT32_C(1) << page_lock_index(from);
	return set;
}

static inline void page_unlock_set(struct page_lock_table *table, uint32_t set)
{
	for (; set; set &= set - 1)
		page_unlock(&table->list[__builtin_ctz(set)]);
}

/* Takes all of these locks, or none. */
static inline bool page_trylock_set(struct page_lock_table *table, uint64_t process, uint32_t set)
{
	for (uint32_t left = set; left; left &= left - 1) {
		if (!page_trylock(&table->list[__builtin_ctz(left)], process)) {
			page_unlock_set(table, set & ((left & -left) - 1));
			return false;
		}
	}
	return true;
}

#endif
