// SPDX-License-Identifier: BSD-2-Clause
/* A lock that is held for nanoseconds, or for a copy. */
#ifndef SOFT_LOCK_H
#define SOFT_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct soft_lock {
	_Atomic uint32_t held;
};

static inline void soft_cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* Pairs with soft_unlock: stores of the last holder are visible. */
static inline bool soft_trylock(struct soft_lock *lock)
{
	return atomic_exchange_explicit(&lock->held, 1, memory_order_acquire) == 0;
}

/* Yields after a while: the holder may not be scheduled. */
static inline void soft_lock(struct soft_lock *lock)
{
	unsigned int spins = 0;

	while (!soft_trylock(lock)) {
		if (++spins % 64 == 0)
			sched_yield();
		else
			soft_cpu_relax();
	}
}

/* Pairs with soft_trylock. */
static inline void soft_unlock(struct soft_lock *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

#endif
