// SPDX-License-Identifier: BSD-2-Clause
/* See owned_lock.h. */
#include "base/owned_lock.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/order.h"
#include "base/util.h"

#define FOREIGN_MAX 256

#if defined(__SANITIZE_THREAD__)
#define TOOL_KNOWS_MUTEXES_ONLY 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TOOL_KNOWS_MUTEXES_ONLY 1
#endif
#endif
#ifndef TOOL_KNOWS_MUTEXES_ONLY
#define TOOL_KNOWS_MUTEXES_ONLY 0
#endif

void (*owned_lock_waited)(uint64_t begun_ns, uint64_t ended_ns);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool barrier_works;
static const char nothing; /* an address that no program passes; NULL it may pass */
_Thread_local struct owned_lock_thread owned_lock_thread = { &nothing };
static _Thread_local bool never_owns;

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/*
 * In a process with threads the kernel waits for an RCU grace period, tens of milliseconds, before
 * it registers the process. At load time there are usually none, and prepare then does not wait.
 */
__attribute__((constructor)) static void register_early(void)
{
	if (!TOOL_KNOWS_MUTEXES_ONLY)
		membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

static void forget_entered(void)
{
	owned_lock_thread.entered = &nothing;
}

static void prepare(void)
{
	pthread_atfork(NULL, NULL, forget_entered);
	barrier_works = !TOOL_KNOWS_MUTEXES_ONLY && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
	                membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

void owned_lock_never_own(void)
{
	never_owns = true;
}

void owned_lock_init(struct owned_lock *lock)
{
	pthread_once(&once, prepare);
	*lock = (struct owned_lock){ .wanted = !barrier_works };
	pthread_mutex_init(&lock->mutex, NULL);
}

void owned_lock_destroy(struct owned_lock *lock)
{
	__atomic_store_n(&lock->owner, NULL, __ATOMIC_RELAXED); /* no thread takes it as its owner any more */
	pthread_mutex_destroy(&lock->mutex);
}

static bool owner_is_inside(const struct owned_lock *lock)
{
	return __atomic_load_n(&lock->busy, __ATOMIC_ACQUIRE); /* pairs with the store of owned_lock_give_as_owner */
}

/*
 * Lets no owner enter from now on. Returns whether there is one, which may still be inside. The
 * caller holds the mutex, so no thread becomes the owner.
 */
static bool shut_owner_out(struct owned_lock *lock)
{
	if (lock->wanted || !lock->owned)
		return false;
	__atomic_store_n(&lock->wanted, 1, __ATOMIC_RELAXED);
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	return true;
}

/* Waits until the owner has left. Critical sections are short and wait for nothing. */
static void keep_owner_out(struct owned_lock *lock)
{
	if (!shut_owner_out(lock))
		return;
	while (owner_is_inside(lock))
		sched_yield();
	lock->foreign += !never_owns;
}

void owned_lock_take_mutex(struct owned_lock *lock)
{
	void (*waited)(uint64_t begun_ns, uint64_t ended_ns) = owned_lock_waited;
	uint64_t begun_ns = waited ? now_ns() : 0;

	pthread_mutex_lock(&lock->mutex);
	if (!lock->owned && barrier_works && !never_owns) {
		lock->owned = true;
		__atomic_store_n(&lock->owner, &owned_lock_thread, __ATOMIC_RELAXED);
	} else if (lock->owner != &owned_lock_thread) {
		keep_owner_out(lock);
	}
	lock->by_mutex = true;
	if (waited)
		waited(begun_ns, now_ns());
}

/* Keeps an owner out; false: it is inside. */
static bool try_keep_owner_out(struct owned_lock *lock)
{
	if (!shut_owner_out(lock))
		return true;
	if (owner_is_inside(lock)) {
		__atomic_store_n(&lock->wanted, 0, __ATOMIC_RELEASE); /* pairs as in owned_lock_give_mutex */
		return false;
	}
	lock->foreign += !never_owns;
	return true;
}

bool owned_lock_try(struct owned_lock *lock)
{
	bool own = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == &owned_lock_thread;

	if ((own && __atomic_load_n(&lock->busy, __ATOMIC_RELAXED)) || pthread_mutex_trylock(&lock->mutex))
		return false;
	if (!own && !try_keep_owner_out(lock)) {
		pthread_mutex_unlock(&lock->mutex);
		return false;
	}
	lock->by_mutex = true;
	return true;
}

void owned_lock_give_mutex(struct owned_lock *lock)
{
	lock->by_mutex = false;
	if (barrier_works && lock->foreign < FOREIGN_MAX)
		__atomic_store_n(&lock->wanted, 0, __ATOMIC_RELEASE); /* pairs with the load in owned_lock_take_as_owner */
	pthread_mutex_unlock(&lock->mutex);
}

bool heavy_barrier_join(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool heavy_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

int owned_lock_give_with(struct owned_lock *lock, int rc)
{
	owned_lock_give(lock);
	return rc;
}
