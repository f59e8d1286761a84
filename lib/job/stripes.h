// SPDX-License-Identifier: BSD-2-Clause
/*
 * stripes.h - who may change the numbers of a rank's memory by plain code
 *
 * DESIGN NOTES
 *
 * Processors have no atomic operations on vectors, and none at all on floating numbers: 4 KiB of bytes take
 * 35 us by an instruction each, and .07 by plain code. So numbers (element.h: all that one instruction stores but
 * integers of 8 bytes), aligned, in memory that processors change, are changed by plain code under a word that says
 * who is at it, by everybody: the rank itself, its executor, and those who map its memory. A rank has STRIPES
 * such words in its registered memory, for all its windows, since these may overlap; page after page of its
 * memory takes the next one, by the address at the owner, of which all origins know as much. Who works on
 * other pages meets nobody but by chance. Memory that is in windows of two ranks, as with a window made over
 * another's part of a shared one, has two words, and accumulates by both windows are not atomic with each other.
 * Integers of 8 bytes are changed so where they come in vectors: words.h.
 * A page is no larger because origins that add to places near each other, as in a histogram, would share its
 * word: with 16 KiB two of them together had half the rate that they have with 4, for 3 % at 64 KiB.
 *
 * A word is 0, or the process that holds it: its number, and above it by when it was known, in
 * seconds. It is taken by a compare-and-swap and given back by a store, so that one element costs no
 * more than its own compare-and-swap would; it is held while the elements of some pages are changed, and
 * never while waiting for anything else, but where a page's integers of 8 bytes are to be numbers from now on.
 *
 * Deaths (A21). Nobody has to be told of them: who finds the word taken, and taken again after some
 * turns, looks whether its holder is a process that has ended, and takes the word from it. From then
 * on nothing of the dead one is stored any more. It has changed its elements up, or down, to some place, each by
 * one store, which is as good an outcome as any. Those who map memory are of one pid namespace
 * (base/place.h); a number given anew to another process does not pass for the one that had it.
 *
 * What lives and holds a word goes on by itself, unless it is stopped (SIGSTOP, a debugger) in the
 * middle of some pages: a microsecond of its life. Plain code cannot be helped out by others.
 * So stripe_take does not wait: it says "not now", and the operation is issued again as one for which
 * there is no room (ISSUE_LATER, RECORD_LATER), by waits that have their limits and watch for deaths.
 *
 * Why not mutexes of the system, which are robust too: two atomic instructions and a list for each
 * element, and a layout that belongs to the C library of each rank.
 */
#ifndef ORIEL_STRIPES_H
#define ORIEL_STRIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "verbs/slab.h"

#define STRIPES 32
#define STRIPE_BYTES 4096u
#define FLIGHT_WINDOWS 55
#define FLIGHTS_MAX 128 /* ranks that have a place for theirs at one owner */

struct oriel_job;
struct peer;

struct stripe {
	_Alignas(64) uint64_t holder; /* its process, or 0: by whoever holds it, or takes it */
};

/* What one rank says of windows of its own: words.h. It alone writes it. */
struct flights {
	_Alignas(64) uint64_t process;
	uint8_t window[FLIGHT_WINDOWS]; /* by slot; 1: under way */
	uint8_t executor;               /* the owner's, of records that it applies */
};

/* In registered memory of their owner. */
struct stripe_table {
	struct stripe list[STRIPES];
	_Alignas(64) uint32_t modes[STRIPES]; /* enum word_mode: words.h */
	struct flights flights[];             /* the owner's, and those of its neighbours by their numbers */
};

/* This rank's, and what it writes into words that it holds. */
struct stripes {
	struct piece piece; /* struct stripe_table */
	uint64_t process;
	uint32_t flights; /* places for them, at every rank alike */
	bool has_barrier; /* flights of ours are seen: words.h */
	uint32_t rests;   /* vectors that make no try to change a mode, since one has failed; relaxed */
	uint32_t pins;    /* what has pinned our words; guarded by job->lock */
};

/* ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int stripes_open(struct oriel_job *job);

/*
 * Memory of the peer's has been mapped here for the first time, or is our own: its words too, if they can
 * be. If not its numbers are for its executor, from beginning to end.
 */
void stripes_map(struct peer *peer);

/* That of an address at the owner, or of another that is the same modulo all of them. */
static inline uint32_t stripe_index(uint64_t there)
{
	return (uint32_t)(there / STRIPE_BYTES % STRIPES);
}

static inline struct stripe *stripe_of(struct stripe_table *table, uint64_t there)
{
	return &table->list[stripe_index(there)];
}

/* How many pages lie, modulo all of them, between an address here and that of the same byte there. */
static inline uint8_t stripe_shift(uint64_t here, uint64_t there)
{
	return (uint8_t)((there - here) / STRIPE_BYTES % STRIPES);
}

/* The bytes from an address to the end of its page. */
static inline size_t stripe_rest(uint64_t there)
{
	return STRIPE_BYTES - there % STRIPE_BYTES;
}

/* Whether a process that such a word names has ended. */
bool stripe_process_ended(uint64_t process);

/* When others hold it: a few turns more; and what a dead process holds is taken over. */
bool stripe_take_held(struct stripe *stripe, uint64_t process);

/* If nobody holds it. Pairs with stripe_give: what the holder before has done is seen. */
static inline bool stripe_take_free(struct stripe *stripe, uint64_t process)
{
	return holder_change(&stripe->holder, 0, process);
}

/* False: not now. */
static inline bool stripe_take(struct stripe *stripe, uint64_t process)
{
	return stripe_take_free(stripe, process) || stripe_take_held(stripe, process);
}

static inline void stripe_give(struct stripe *stripe)
{
	flag_store(&stripe->holder, 0); /* pairs with holder_change in stripe_take_free */
}

#endif
