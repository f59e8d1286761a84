// SPDX-License-Identifier: BSD-2-Clause
/*
 * owned_lock.h - a lock that costs its usual owner no atomic instruction
 *
 * DESIGN NOTES
 *
 * Nearly always one thread uses a window and its wires, and a mutex would cost it more than a small
 * put. So the first thread that takes the lock becomes its owner, and announces itself by stores:
 *
 *   owner                                    another thread, holding the mutex
 *   busy = 1                                 wanted = 1
 *   (the compiler keeps the order)           membarrier: every processor executes a full barrier
 *   wanted? then busy = 0, and the mutex     wait until busy == 0
 *
 * Either the owner sees `wanted`, or the other thread sees `busy`: its membarrier replaces the
 * owner's fence. The release stores of busy = 0 and wanted = 0 publish what owner and others wrote.
 *
 * The address of a thread-local variable identifies the calling thread. pthread_self is a call,
 * around which every fast path would have to keep its arguments.
 *
 * The service thread never becomes an owner (owned_lock_never_own), and its visits are not counted.
 *
 * A lock that others take FOREIGN_MAX times stays `wanted` and is then just a mutex, as it is from
 * the start without membarrier, and under tools that do not understand it (ThreadSanitizer,
 * valgrind).
 */
#ifndef ORIEL_OWNED_LOCK_H
#define ORIEL_OWNED_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct owned_lock {
	uint32_t busy;   /* the owner is inside; written by the owner only */
	uint32_t wanted; /* the owner has to take the mutex; written under it */
	/* Written once, under the mutex, by the owner. NULL once destroyed. */
	const struct owned_lock_thread *owner;
	bool owned;
	bool by_mutex;    /* the thread inside holds the mutex; written by it */
	uint32_t foreign; /* how often another thread came; under the mutex */
	pthread_mutex_t mutex;
};

struct owned_lock_thread {
	/*
	 * The object with a lock that the thread last found alive, or an address of ours, as in a
	 * forked child. While the thread owns that lock the object lives, and needs no check.
	 */
	const void *entered;
};

extern _Thread_local struct owned_lock_thread owned_lock_thread __attribute__((tls_model("initial-exec")));

/* Makes the calling thread never own a lock. */
void owned_lock_never_own(void);

void owned_lock_init(struct owned_lock *lock);
void owned_lock_destroy(struct owned_lock *lock);

/* Takes the lock if no thread is inside, the caller included. Never waits. */
bool owned_lock_try(struct owned_lock *lock);

/* A thread calls it that has taken a lock, not as its owner. */
extern void (*owned_lock_waited)(uint64_t begun_ns, uint64_t ended_ns);

void owned_lock_take_mutex(struct owned_lock *lock);
void owned_lock_give_mutex(struct owned_lock *lock);

/*
 * Takes the lock as its owner, while no other thread wants it: no call, no atomic instruction.
 * False: owned_lock_take is needed.
 */
static inline bool owned_lock_take_as_owner(struct owned_lock *lock)
{
	if (__builtin_expect(__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != &owned_lock_thread, 0))
		return false;
	__atomic_store_n(&lock->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the membarrier in owned_lock_take_mutex does the rest */
	if (__builtin_expect(__atomic_load_n(&lock->wanted, __ATOMIC_ACQUIRE) == 0, 1))
		return true; /* the load pairs with the store of wanted = 0 in owned_lock_give_mutex */
	__atomic_store_n(&lock->busy, 0, __ATOMIC_RELEASE);
	return false;
}

static inline void owned_lock_give_as_owner(struct owned_lock *lock)
{
	__atomic_store_n(&lock->busy, 0, __ATOMIC_RELEASE); /* pairs with the load in owner_is_inside */
}

static inline void owned_lock_take(struct owned_lock *lock)
{
	if (!owned_lock_take_as_owner(lock))
		owned_lock_take_mutex(lock);
}

static inline void owned_lock_give(struct owned_lock *lock)
{
	if (lock->by_mutex)
		owned_lock_give_mutex(lock);
	else
		owned_lock_give_as_owner(lock);
}

/* Gives the lock back and returns rc. Out of line: fast paths save no registers. */
int owned_lock_give_with(struct owned_lock *lock, int rc);

#endif
