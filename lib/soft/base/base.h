// SPDX-License-Identifier: BSD-2-Clause
/* What all files use: time, random numbers, barriers, marks, limits, lists, locks, addresses. */
#ifndef SOFT_BASE_H
#define SOFT_BASE_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The clock of all deadlines; CLOCK_MONOTONIC. */
uint64_t soft_now_ns(void);
/* Returns a number that other processes cannot predict. */
uint32_t soft_random(void);
/* In a forked child: draws other numbers than the parent. */
void soft_random_forked(void);
/*
 * Requests heavy barriers from the kernel. Returns false if it has none: threads must then use
 * fences.
 */
bool soft_barrier_register(void);
/* Orders the memory accesses of all other threads and processes against the caller's. */
void soft_heavy_barrier(void);

/* Returns the smallest power of two that is not below n. */
static inline uint32_t soft_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/*
 * Marks for symbols that a library exports, and the results of calls. Functions are hidden without
 * a mark (-fvisibility=hidden); data needs one.
 */

#define SOFT_HIDDEN __attribute__((visibility("hidden")))
#define SOFT_EXPORT __attribute__((visibility("default")))

/* Returns an errno value, and stores it in errno: some programs read only that. */
static inline int soft_result(int err)
{
	if (err)
		errno = err;
	return err;
}

/* Limits of the device. */

enum {
	SOFT_FILE_SLOTS = 256, /* slots below are those of sockets that are files (start.c) */
	SOFT_PORT = 1,
	SOFT_MAX_WR = 16384, /* per queue */
	SOFT_MAX_SGE = 16,
	SOFT_MAX_INLINE = 1024, /* bytes */
	SOFT_MAX_CQE = 1 << 20,
	SOFT_MAX_RD_ATOMIC = 128,
	SOFT_MAX_GIDS = 64,
	SOFT_MAX_PIPES = 8192, /* peers in each direction */
};

#define SOFT_MAX_MSG (1u << 31) /* bytes */

/* The rights by which peers may access a region. */
#define SOFT_ACCESS_PEERS \
	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

/* Intrusive lists. An item that is in no list points to itself. */

struct soft_list {
	struct soft_list *next, *prev;
};

static inline void soft_list_init(struct soft_list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool soft_list_empty(const struct soft_list *list)
{
	return list->next == list;
}

static inline void soft_list_add_tail(struct soft_list *list, struct soft_list *item)
{
	item->prev = list->prev;
	item->next = list;
	list->prev->next = item;
	list->prev = item;
}

/* The item may be in no list. */
static inline void soft_list_del(struct soft_list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	soft_list_init(item);
}

#define soft_container(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* A lock that is held for nanoseconds, or for a copy. */

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

/* The host's addresses. */

__be64 soft_guid(void);
/* Writes the port's addresses, the link-local one first. Returns their number. */
int soft_gids(union ibv_gid *gids, int max);

#endif
