// SPDX-License-Identifier: BSD-2-Clause
/*
 * order.h - loads and stores of memory that other processes, the device, or other threads change
 *
 * Everything of that kind goes through one of these, and the place that calls it says which load or
 * store on the other side it pairs with. Flag words in registered memory have one writer; a reader
 * waits for exactly the number it expects, because a device may place the eight bytes of a write
 * one by one and a torn mixture can be larger than both.
 */
#ifndef ORIEL_ORDER_H
#define ORIEL_ORDER_H

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
 * Between stores to a record that peers may be reading: what was stored before is seen before what
 * is stored after. The reader's partner is the record's check word, which it computes anew.
 */
static inline void record_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
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
