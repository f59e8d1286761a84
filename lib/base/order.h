// SPDX-License-Identifier: BSD-2-Clause
/*
 * order.h - loads and stores of memory that other processes, the device, or other threads change
 *
 * All such accesses go through these functions, and each caller names the access that it pairs
 * with. A flag word in registered memory has one writer. A reader waits for exactly the number it
 * expects: a device may place the bytes of a word one by one, and a torn mixture can be larger than
 * both. See lib/ordering.md for processors that reorder.
 */
#ifndef ORIEL_ORDER_H
#define ORIEL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a flag word that a peer's RDMA write changes. After a match, earlier writes are visible. */
static inline uint64_t flag_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Writes a flag word of this rank, or a mapped one, as an RDMA write would. */
static inline void flag_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Publishes state to other threads of this process. Pairs with state_load. */
static inline void state_store(uint32_t *state, uint32_t value)
{
	__atomic_store_n(state, value, __ATOMIC_RELEASE);
}

/* Pairs with state_store: earlier writes are visible. */
static inline uint32_t state_load(const uint32_t *state)
{
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

/* Changes a state that two threads change; returns whether it was `from`. Orders nothing else. */
static inline bool state_change(uint32_t *state, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(state, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Counters that many threads read, and that are written under a lock. */
static inline uint64_t counter_load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static inline void counter_store(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELEASE);
}

/*
 * Adds to a word by one fetch-and-add. A thread that sees the sum with flag_load sees earlier
 * writes.
 */
static inline void word_add(uint64_t *word, uint64_t value)
{
	__atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
}

/*
 * Changes the holder that a word names, with one compare-and-swap; returns whether it was `from`.
 * The writes of the holder before are visible, and no earlier write of this thread becomes visible
 * after its writes under the word.
 */
static inline bool holder_change(uint64_t *word, uint64_t from, uint64_t to)
{
	bool changed = __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_RELEASE);
	return changed;
}

/*
 * Orders stores to a description that peers may be reading. The reader's partner is its check word,
 * which it computes anew.
 */
static inline void full_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Draws a ticket after earlier stores, and before later loads. */
static inline uint64_t ticket_draw(uint64_t *next)
{
	uint64_t ticket = __atomic_fetch_add(next, 1, __ATOMIC_SEQ_CST);

#if !defined(__x86_64__) && !defined(__i386__) /* on x86 the addition is a full fence */
	full_fence();
#endif
	return ticket;
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/*
 * owned_lock.c: a full fence in all processes that take part, made by one of them
 *
 * If two processes each store a word and then load the other's, both need a fence between, so that
 * one of them sees the other's store. If one does it rarely, it can make the fence for both, with
 * the kernel's membarrier.
 */

/* Makes this process take part. False: the kernel has no membarrier. */
bool heavy_barrier_join(void);

/*
 * Returns true if every thread of every such process, the calling one included, has executed a full
 * fence since the call. False: nothing is known, and the other processes do not learn of it.
 */
bool heavy_barrier(void);

#endif
