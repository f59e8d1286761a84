// SPDX-License-Identifier: BSD-2-Clause
/*
 * atomic_mode.h - integers of 8 bytes: when they are changed by instructions, and when by plain
 * code
 *
 * DESIGN NOTES
 *
 * A word is two things to programs. One alone mostly is a counter from which ranks draw: for that
 * an atomic instruction is best, which takes a third of what the page lock (page_lock.h) and the
 * integer take together, and locks nothing. In a vector it is a number as others are: 4 KiB of them
 * take 2.5 us by instructions, and .06 by plain code. So each page lock has a mode, by which all
 * change the words of its pages:
 *
 *   MODE_ATOMIC      by instructions; under the page lock, or a few of them at once without it
 *   MODE_SWITCHING   by instructions, under the page lock
 *   MODE_LOCKED      by plain code, under the page lock
 *   MODE_PINNED      as MODE_ATOMIC, as long as the owner says so: its device changes words, too
 *
 * A thread that holds the page lock changes its mode, from one to the next up to MODE_LOCKED, with
 * the first vector of MODE_SWITCH_MIN or more that changes something. It stays so, until the owner
 * pins it. So counters keep their instructions where such vectors do not come: to no page of the
 * owner's that has the same page lock.
 *
 * A thread that changes words without the page lock announces an *update in progress*, by a byte in
 * the owner's memory, of which a rank has one for each of its windows. There is no fence in it,
 * since that would cost as much as the instruction:
 *
 *   update of a few words                         switch of the mode, with the page lock held
 *   in_progress = 1                               mode = MODE_SWITCHING
 *   (the compiler keeps the order)                heavy barrier (base/heavy_barrier.h)
 *   mode? if neither ATOMIC nor PINNED:           every in_progress: wait until it is 0,
 *   in_progress = 0, and take the page lock       or its process has ended
 *   the instructions                              mode = MODE_LOCKED
 *   in_progress = 0
 *
 * Either the mode is seen, or the update. An update that does not end, because its thread has no
 * processor or is stopped, is not waited for: the switch fails. The vector is then changed by
 * instructions, which is right in every mode, and the switch is tried again some vectors later.
 * Meanwhile single words take the page lock too, whose holder may be the one that is stopped. The
 * same happens where the kernel has no such barrier. A rank that cannot take part in it, or finds
 * no place for its bytes, takes the page lock each time. The owner's handler has a byte of its
 * own.
 *
 * Pinned is what a rank's words are while it has a window whose words its device changes by atomics
 * that are atomic with the processor's instructions, but not with plain code: of memory that peers
 * cannot map, as a rule. The owner pins a page of mode MODE_ATOMIC, and frees it again, without the
 * lock: nobody changes words there by plain code before it has changed that mode, by a
 * compare-and-swap, as the owner does. For pages of other modes it takes the lock.
 *
 * tests/models/mode_model.py tries all orders of these steps, and leaves out each part of them in turn.
 */
#ifndef ORIEL_ATOMIC_MODE_H
#define ORIEL_ATOMIC_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "job/peer.h"
#include "job/page_lock.h"

/*
 * The least number of changes for which the mode is switched; fewer are better off with
 * instructions.
 */
#define MODE_SWITCH_MIN 8

enum atomic_mode { MODE_ATOMIC, MODE_SWITCHING, MODE_LOCKED, MODE_PINNED };

/*
 * Pairs with set_mode: what was changed in another mode is seen. While the page lock is held, only
 * MODE_ATOMIC may change.
 */
static inline enum atomic_mode atomic_mode(const struct page_lock_table *table, uint64_t there)
{
	return (enum atomic_mode)state_load(&table->modes[page_lock_index(there)]);
}

/* As update_begin, with a byte that no other thread uses meanwhile. */
static inline uint8_t *update_begin_as(uint8_t *in_progress, const struct page_lock_table *table, uint64_t there)
{
	enum atomic_mode mode;

	__atomic_store_n(in_progress, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the heavy barrier in atomic_mode_try_locked does the rest */
	mode = atomic_mode(table, there);
	if (__builtin_expect(mode == MODE_ATOMIC || mode == MODE_PINNED, 1))
		return in_progress;
	__atomic_store_n(in_progress, 0, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * Begin to change words of one page at the peer, by instructions, without the page lock: its
 * byte, for update_end; NULL: not so. There is one thread at a time for each window slot here.
 */
static inline uint8_t *update_begin(const struct peer *peer, uint32_t slot, uint64_t there)
{
	struct updates *updates = peer_updates_there(peer);

	if (!updates || slot >= UPDATE_WINDOWS)
		return NULL;
	return update_begin_as(&updates->window[slot], peer->page_locks, there);
}

/* The same for words of our own, of which an active message says how; with am->lock. */
static inline uint8_t *update_begin_here(const struct page_locks *ours, uint64_t addr)
{
	struct page_lock_table *table = ours->piece.addr;

	return ours->has_barrier ? update_begin_as(&table->updates[0].handler, table, addr) : NULL;
}

static inline void update_end(uint8_t *in_progress)
{
	__atomic_store_n(in_progress, 0, __ATOMIC_RELEASE); /* pairs with the load in updating */
}

/*
 * For a rank that holds the page locks of the pages [from, to) at their owner, whose table that is:
 * whether words there are to be changed by plain code now; for `changes` of MODE_SWITCH_MIN and
 * more, from now on if that can be. Else by instructions.
 */
bool atomic_mode_try_locked(struct page_locks *ours, struct page_lock_table *table, uint64_t from, uint64_t to,
                            size_t changes);

/*
 * Our words are changed by instructions from the return on, until atomic_mode_unpin has been called
 * as often. For a window, by a call. ERRORS: ORIEL_ERR_TIMEOUT: a thread that holds a page lock is
 * stopped.
 */
int atomic_mode_pin(struct oriel_job *job, const void *win, const char *call);
void atomic_mode_unpin(struct oriel_job *job);

#endif
