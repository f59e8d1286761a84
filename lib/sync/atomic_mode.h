// SPDX-License-Identifier: BSD-2-Clause
/*
 * atomic_mode.h - 8-byte integers: when they are changed by instructions, and when by plain code
 *
 * DESIGN NOTES
 *
 * For a single word an atomic instruction is faster than page lock (page_lock.h) and update
 * together. Plain code is faster for a vector of words. So each page lock has a mode, which
 * determines how all ranks change the words of its pages:
 *
 *   MODE_ATOMIC      by instructions; under the page lock, or a few of them at once without it
 *   MODE_SWITCHING   by instructions, under the page lock
 *   MODE_LOCKED      by plain code, under the page lock
 *   MODE_PINNED      as MODE_ATOMIC, until the owner unpins it: its device changes words, too
 *
 * The first vector of MODE_SWITCH_MIN or more that changes something advances the mode, with the
 * page lock held, to MODE_LOCKED. The mode then stays, until the owner pins it.
 *
 * A thread that changes words without the page lock announces an *update in progress* by a byte in
 * the owner's memory; a rank has one for each of its windows. A fence would cost as much as the
 * instruction, so there is none:
 *
 *   update of a few words                         switch of the mode, with the page lock held
 *   in_progress = 1                               mode = MODE_SWITCHING
 *   (the compiler keeps the order)                heavy barrier (base/order.h)
 *   mode? if neither ATOMIC nor PINNED:           every in_progress: wait until it is 0,
 *   in_progress = 0, and take the page lock       or its process has ended
 *   the instructions                              mode = MODE_LOCKED
 *   in_progress = 0
 *
 * Either the update sees the mode, or the switch sees the update. The switch fails if an update
 * does not end, because its thread is stopped or not scheduled, or if the kernel has no such
 * barrier. The vector is then changed by instructions, and later ones try the switch again. Until
 * then, updates of single words take the page lock. A rank that cannot take part in the barrier, or
 * has no place for its bytes, always takes it. The owner's handler has its own byte.
 *
 * A rank's words are pinned while it has a window whose words its device changes by atomics that
 * are atomic with the processor's instructions, but not with plain code. The owner pins and unpins
 * a page in MODE_ATOMIC by a compare-and-swap, without the lock: plain code changes words there
 * only after a compare-and-swap of that mode. In other modes the owner takes the lock.
 *
 * tests/models/mode_model.py tries all orders of these steps.
 */
#ifndef ORIEL_ATOMIC_MODE_H
#define ORIEL_ATOMIC_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "job/peer.h"
#include "sync/page_lock.h"

/* The least number of changes that switches the mode. */
#define MODE_SWITCH_MIN 8

enum atomic_mode { MODE_ATOMIC, MODE_SWITCHING, MODE_LOCKED, MODE_PINNED };

/*
 * Returns the mode. Pairs with set_mode: changes made in another mode are visible. While the page
 * lock is held, only MODE_ATOMIC may change.
 */
static inline enum atomic_mode atomic_mode(const struct page_lock_table *table, uint64_t there)
{
	return (enum atomic_mode)state_load(&table->modes[page_lock_index(there)]);
}

/* Acts as update_begin, with a byte of this thread. */
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
 * Begins to change words of one page at the peer by instructions, without the page lock. Returns
 * the byte for update_end, or NULL. One thread at a time for each window slot.
 */
static inline uint8_t *update_begin(const struct peer *peer, uint32_t slot, uint64_t there)
{
	struct updates *updates = peer_updates_there(peer);

	if (!updates || slot >= UPDATE_WINDOWS)
		return NULL;
	return update_begin_as(&updates->window[slot], peer->page_locks, there);
}

/* Acts as update_begin for words of this rank, for an active message. The caller holds am->lock. */
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
 * Returns whether words on the pages [from, to) must be changed by plain code, else by
 * instructions. The caller holds the page locks of these pages in the owner's table.
 * MODE_SWITCH_MIN `changes` or more try to switch the mode.
 */
bool atomic_mode_try_locked(struct page_locks *ours, struct page_lock_table *table, uint64_t from, uint64_t to,
                            size_t changes);

/*
 * Makes this rank's words change by instructions, until as many calls of atomic_mode_unpin. ERRORS:
 * ORIEL_ERR_TIMEOUT: a thread that holds a page lock is stopped.
 */
int atomic_mode_pin(struct oriel_job *job, const char *call);
void atomic_mode_unpin(struct oriel_job *job);

#endif
