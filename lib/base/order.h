// SPDX-License-Identifier: BSD-2-Clause
/*
 * order.h - loads and stores of memory that other processes, the device, or other threads change
 *
 * Everything of that kind goes through one of these, and the place that calls it says which load or
 * store on the other side it pairs with. Flag words in registered memory have one writer; a reader
 * waits for exactly the number it expects, because a device may place the eight bytes of a write
 * one by one and a torn mixture can be larger than both. What all of them rest on where processors
 * reorder: lib/ordering.md.
 */
#ifndef ORIEL_ORDER_H
#define ORIEL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Read a flag word that a peer's RDMA write changes; what was written before the flag is visible
 * after a match.
 */
static inline uint64_t flag_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Write a flag word as an RDMA write would: our own, where a rank is its own neighbour, or one that is mapped here. */
static inline void flag_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* State that one thread publishes to others of this process. Pairs with state_load. */
static inline void state_store(uint32_t *state, uint32_t value)
{
	__atomic_store_n(state, value, __ATOMIC_RELEASE);
}

/* Pairs with state_store: what was written before it is visible. */
static inline uint32_t state_load(const uint32_t *state)
{
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

/*
 * Change a state that two threads change, from one value to another: whether it was that. Orders
 * nothing else: the caller says what does.
 */
static inline bool state_change(uint32_t *state, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(state, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Counters that many threads look at and one lock guards on the writing side. */
static inline uint64_t counter_load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static inline void counter_store(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELEASE);
}

/*
 * Add to a word that others add to as well, by processors: one fetch-and-add. Who sees the sum with
 * flag_load sees what was written before.
 */
static inline void word_add(uint64_t *word, uint64_t value)
{
	__atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
}

/*
 * Change who holds something, a word that names him, from one value to another: one compare-and-swap;
 * whether it was that value. What the holder before has done is seen; and of what this thread does
 * nothing that comes before is seen behind what it does under the word.
 */
static inline bool holder_change(uint64_t *word, uint64_t from, uint64_t to)
{
	bool changed = __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_RELEASE);
	return changed;
}

/*
 * Between stores to a description that peers may be reading: what was stored before is seen before
 * what is stored after. The reader's partner is its check word, which it computes anew.
 */
static inline void full_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Draw a ticket: what was stored before is seen before the next one is drawn, and what follows is loaded after it. */
static inline uint64_t ticket_draw(uint64_t *next)
{
	uint64_t ticket = __atomic_fetch_add(next, 1, __ATOMIC_SEQ_CST);

#if !defined(__x86_64__) && !defined(__i386__) /* where the addition itself is a full fence */
	full_fence();
#endif
	return ticket;
}

/* Tell the processor that this is a spin loop. */
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

#endif
