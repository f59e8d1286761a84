// SPDX-License-Identifier: BSD-2-Clause
/*
 * words.h - integers of 8 bytes: when they are changed by instructions, and when by plain code
 *
 * DESIGN NOTES
 *
 * A word is two things to programs. One alone mostly is a counter from which ranks draw: for that
 * an atomic instruction is best, which takes a third of what the page lock (page_lock.h) and the
 * integer take together, and locks nothing. In a vector it is a number as others are: 4 KiB of them
 * take 2.5 us by instructions, and .06 by plain code. So each page lock has a mode, by which all
 * change the words of its pages:
 *
 *   WORD_FREE      by instructions; under the page lock, or a few of them at once without it
 *   WORD_CHANGING  by instructions, under the page lock
 *   WORD_PLAIN     by plain code, under the page lock
 *   WORD_PINNED    as WORD_FREE, as long as the owner says so: its device changes words, too
 *
 * Who has taken the page lock changes its mode, from one to the next up to WORD_PLAIN: with the
 * first vector of WORDS_MANY or more that changes something. It stays so, until the owner pins it.
 * So counters keep their instructions where such vectors do not come: to no page of the owner's
 * that has the same page lock.
 *
 * Who changes words without the page lock says so meanwhile, in memory of its own at the owner, a
 * byte for each of its windows: a *flight*. There is no fence in it, since that would cost as much
 * as the instruction:
 *
 *   who changes a few                               who changes the mode, and holds the page lock
 *   flight = 1                                      mode = WORD_CHANGING
 *   (the compiler keeps the order)                  heavy barrier (base/heavy_barrier.h)
 *   mode? if neither FREE nor PINNED: flight = 0,   every flight: wait until it is 0, or its process has ended
 *   and the page lock is needed                   mode = WORD_PLAIN
 *   the instructions
 *   flight = 0
 *
 * Either the mode is seen, or the flight. One that does not end, because its thread has no
 * processor or is stopped, is not waited for: what is held is changed by instructions, which is
 * right in every mode, and some vectors later it is tried again; meanwhile single words take the
 * page lock too, whose holder may be the one that is stopped. The same where the kernel has no such
 * barrier. A rank that cannot take part in it has no flights, nor has one that finds no place for
 * them: it takes the page lock each time. The owner's executor has flights of its own.
 *
 * Pinned is what a rank's words are while it has a window whose words its device changes by atomics
 * that are atomic with the processor's instructions, but not with plain code: of memory that peers
 * cannot map, as a rule. The owner pins a page of mode WORD_FREE, and frees it again, without the
 * lock: nobody changes words there by plain code before it has changed that mode, by a
 * compare-and-swap, as the owner does. For pages of other modes it takes the lock.
 */
#ifndef ORIEL_WORDS_H
#define ORIEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "job/peer.h"
#include "job/page_lock.h"

/* As many are changed by plain code where the mode has to be changed for that; fewer are better off without. */
#define WORDS_MANY 8

enum word_mode { WORD_FREE, WORD_CHANGING, WORD_PLAIN, WORD_PINNED };

/*
 * Pairs with set_mode: what was changed in another mode is seen. While the page lock is held, only
 * WORD_FREE may change.
 */
static inline enum word_mode word_mode(const struct page_lock_table *table, uint64_t there)
{
	return (enum word_mode)state_load(&table->modes[page_lock_index(there)]);
}

/* As words_begin, with a flight that nobody else makes meanwhile. */
static inline uint8_t *words_begin_as(uint8_t *flight, const struct page_lock_table *table, uint64_t there)
{
	enum word_mode mode;

	__atomic_store_n(flight, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the heavy barrier in words_are_plain does the rest */
	mode = word_mode(table, there);
	if (__builtin_expect(mode == WORD_FREE || mode == WORD_PINNED, 1))
		return flight;
	__atomic_store_n(flight, 0, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * Begin to change words of one page at the peer, by instructions, without the page lock: the
 * flight, for words_end; NULL: not so. There is one thread at a time for each window slot here.
 */
static inline uint8_t *words_begin(const struct peer *peer, uint32_t slot, uint64_t there)
{
	struct flights *flights = peer_flights_there(peer);

	if (!flights || slot >= FLIGHT_WINDOWS)
		return NULL;
	return words_begin_as(&flights->window[slot], peer->page_locks, there);
}

/* The same for words of our own, of which a record says how; with records->lock. */
static inline uint8_t *words_begin_here(const struct page_locks *ours, uint64_t addr)
{
	struct page_lock_table *table = ours->piece.addr;

	return ours->has_barrier ? words_begin_as(&table->flights[0].executor, table, addr) : NULL;
}

static inline void words_end(uint8_t *flight)
{
	__atomic_store_n(flight, 0, __ATOMIC_RELEASE); /* pairs with the load in flies */
}

/*
 * For a rank that holds the page locks of the pages [from, to) at their owner, whose table that is:
 * whether words there are to be changed by plain code now; for `changes` of WORDS_MANY and more,
 * from now on if that can be. Else by instructions.
 */
bool words_are_plain(struct page_locks *ours, struct page_lock_table *table, uint64_t from, uint64_t to,
                     size_t changes);

/*
 * Our words are changed by instructions from the return on, until words_unpin has been called as often. For a window, by
 * a call. ERRORS: ORIEL_ERR_TIMEOUT: somebody who holds a page whose words are changed by plain code is stopped.
 */
int words_pin(struct oriel_job *job, const void *win, const char *call);
void words_unpin(struct oriel_job *job);

#endif
