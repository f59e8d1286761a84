// SPDX-License-Identifier: BSD-2-Clause
/*
 * thread.c - what starts and orders threads, in front of the C library; see strand.h
 *
 * All code of the process calls these. They are followed if recompiled code calls them, or a
 * library for it. Locks of an MPI order no threads of the program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "see/front/behind.h"
#include "check/compiled/strand.h"
#include "check/compiled/tsan.h"
#include "check/compiled/watch.h"

#define VISIBLE __attribute__((visibility("default")))

#define CALLS(X)                  \
	X(pthread_create)             \
	X(pthread_join)               \
	X(pthread_tryjoin_np)         \
	X(pthread_timedjoin_np)       \
	X(pthread_mutex_lock)         \
	X(pthread_mutex_trylock)      \
	X(pthread_mutex_timedlock)    \
	X(pthread_mutex_unlock)       \
	X(pthread_cond_wait)          \
	X(pthread_cond_timedwait)     \
	X(pthread_cond_signal)        \
	X(pthread_cond_broadcast)     \
	X(pthread_barrier_wait)       \
	X(pthread_rwlock_rdlock)      \
	X(pthread_rwlock_tryrdlock)   \
	X(pthread_rwlock_timedrdlock) \
	X(pthread_rwlock_wrlock)      \
	X(pthread_rwlock_trywrlock)   \
	X(pthread_rwlock_timedwrlock) \
	X(pthread_rwlock_unlock)      \
	X(pthread_spin_lock)          \
	X(pthread_spin_trylock)       \
	X(pthread_spin_unlock)        \
	X(pthread_once)               \
	X(sem_wait)                   \
	X(sem_trywait)                \
	X(sem_timedwait)              \
	X(sem_post)                   \
	X(thrd_create)                \
	X(thrd_join)                  \
	X(mtx_lock)                   \
	X(mtx_trylock)                \
	X(mtx_timedlock) X(mtx_unlock) X(cnd_wait) X(cnd_timedwait) X(cnd_signal) X(cnd_broadcast) X(call_once)

/* The functions behind this library. */
static struct {
#define X(name) __typeof__(name) *name;
	CALLS(X)
#undef X
	int (*pthread_mutex_clocklock)(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);
	int (*pthread_cond_clockwait)(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
	                              const struct timespec *until);
	int (*pthread_clockjoin_np)(pthread_t thread, void **result, clockid_t clock, const struct timespec *until);
	int (*pthread_rwlock_clockrdlock)(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until);
	int (*pthread_rwlock_clockwrlock)(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until);
	int (*sem_clockwait)(sem_t *semaphore, clockid_t clock, const struct timespec *until);
	int (*__cxa_guard_acquire)(int64_t *guard);
	void (*__cxa_guard_release)(int64_t *guard);
} next;

#pragma GCC visibility push(default)
int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);
int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);
int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until);
int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until);
int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until);
int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until);
int __cxa_guard_acquire(int64_t *guard);
void __cxa_guard_release(int64_t *guard);
#pragma GCC visibility pop

static __attribute__((noinline)) void find_all(void)
{
#define X(name) find_behind(#name, &next.name);
	CALLS(X)
#undef X
	find_behind("pthread_mutex_clocklock", &next.pthread_mutex_clocklock);
	find_behind("pthread_cond_clockwait", &next.pthread_cond_clockwait);
	find_behind("pthread_clockjoin_np", &next.pthread_clockjoin_np);
	find_behind("pthread_rwlock_clockrdlock", &next.pthread_rwlock_clockrdlock);
	find_behind("pthread_rwlock_clockwrlock", &next.pthread_rwlock_clockwrlock);
	find_behind("sem_clockwait", &next.sem_clockwait);
}

/* Constructors of other libraries may come first. */
static void need(void)
{
	if (__builtin_expect(!next.pthread_mutex_lock, 0))
		find_all();
}

static void releases(const void *site, const volatile void *thing)
{
	need();
	if (strand_is_several && object_has_threads(site))
		strand_release(thing);
}

/* The call has returned rc. */
static int acquires(const void *site, const volatile void *thing, int rc)
{
	if ((rc == 0 || rc == EOWNERDEAD) && strand_is_several && object_has_threads(site))
		strand_acquire(thing);
	return rc;
}

/* ---- begin and end ---- */

struct start {
	void *(*run)(void *argument);
	int (*run_of_c)(void *argument);
	void *argument;
	bool is_followed;
	uint32_t strand;
};

static struct start begin(struct start *start)
{
	struct start copy = *start;

	if (copy.is_followed)
		strand_begin(start, copy.strand);
	free(start);
	return copy;
}

/* The thread returns, exits, or is cancelled. */
static void end(void *argument)
{
	const struct start *start = argument;

	if (start->is_followed)
		strand_end();
}

static void *run(void *argument)
{
	struct start start = begin(argument);
	void *result;

	pthread_cleanup_push(end, &start);
	result = start.run(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

static int run_of_c(void *argument)
{
	struct start start = begin(argument);
	int result;

	pthread_cleanup_push(end, &start);
	result = start.run_of_c(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

/* Returns what a thread begins with, or NULL without memory. */
static struct start *make_start(const void *site, struct start start)
{
	struct start *made = malloc(sizeof(*made));

	if (!made)
		return NULL;
	*made = start;
	made->is_followed = object_has_threads(site);
	if (made->is_followed)
		made->strand = strand_make(made);
	return made;
}

/*
 * Returns a place by which it is decided whether a thread is the program's: which one calls, or
 * what the thread runs, where the runtime in the program calls for others. That is the first member
 * of its argument.
 */
static const void *creator(const void *site, const void *argument)
{
	const void *function;

	if (!runtime_is_inside)
		return site;
	if (!argument)
		return NULL; /* the runtime's own thread */
	memcpy(&function, argument, sizeof(function));
	return function;
}

VISIBLE int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                           void *(*function)(void *argument), void *restrict argument)
{
	struct start *start;
	int rc;

	need();
	start = make_start(creator(HERE, argument), (struct start){ .run = function, .argument = argument });
	rc = start ? next.pthread_create(thread, attributes, run, start) : EAGAIN;
	if (rc)
		free(start);
	return rc;
}

VISIBLE int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	struct start *start;
	int rc;

	need();
	start = make_start(HERE, (struct start){ .run_of_c = function, .argument = argument });
	rc = start ? next.thrd_create(thread, run_of_c, start) : thrd_nomem;
	if (rc != thrd_success)
		free(start);
	return rc;
}

static int joined(const void *site, pthread_t thread, int rc)
{
	if (rc == 0 && strand_is_several && object_has_threads(site))
		strand_join((uint64_t)thread);
	return rc;
}

VISIBLE int pthread_join(pthread_t thread, void **result)
{
	need();
	return joined(HERE, thread, next.pthread_join(thread, result));
}

VISIBLE int pthread_tryjoin_np(pthread_t thread, void **result)
{
	need();
	return joined(HERE, thread, next.pthread_tryjoin_np(thread, result));
}

VISIBLE int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	need();
	return joined(HERE, thread, next.pthread_timedjoin_np(thread, result, until));
}

VISIBLE int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
	need();
	return joined(HERE, thread, next.pthread_clockjoin_np(thread, result, clock, until));
}

VISIBLE int thrd_join(thrd_t thread, int *result)
{
	need();
	return joined(HERE, thread, next.thrd_join(thread, result));
}

/* ---- mutexes ---- */

VISIBLE int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	need();
	return acquires(HERE, mutex, next.pthread_mutex_lock(mutex));
}

VISIBLE int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	need();
	return acquires(HERE, mutex, next.pthread_mutex_trylock(mutex));
}

VISIBLE int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
	need();
	return acquires(HERE, mutex, next.pthread_mutex_timedlock(mutex, until));
}

VISIBLE int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	need();
	return acquires(HERE, mutex, next.pthread_mutex_clocklock(mutex, clock, until));
}

VISIBLE int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	releases(HERE, mutex);
	return next.pthread_mutex_unlock(mutex);
}

VISIBLE int mtx_lock(mtx_t *mutex)
{
	need();
	return acquires(HERE, mutex, next.mtx_lock(mutex));
}

VISIBLE int mtx_trylock(mtx_t *mutex)
{
	need();
	return acquires(HERE, mutex, next.mtx_trylock(mutex));
}

VISIBLE int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
	need();
	return acquires(HERE, mutex, next.mtx_timedlock(mutex, until));
}

VISIBLE int mtx_unlock(mtx_t *mutex)
{
	releases(HERE, mutex);
	return next.mtx_unlock(mutex);
}

/* ---- conditions: a wait unlocks and locks the mutex, also if its time is over ---- */

static int waited(const void *site, const void *cond, const void *mutex, int rc)
{
	acquires(site, cond, 0);
	acquires(site, mutex, 0);
	return rc;
}

VISIBLE int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
	releases(HERE, mutex);
	return waited(HERE, cond, mutex, next.pthread_cond_wait(cond, mutex));
}

VISIBLE int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                                   const struct timespec *restrict until)
{
	releases(HERE, mutex);
	return waited(HERE, cond, mutex, next.pthread_cond_timedwait(cond, mutex, until));
}

VISIBLE int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                   const struct timespec *until)
{
	releases(HERE, mutex);
	return waited(HERE, cond, mutex, next.pthread_cond_clockwait(cond, mutex, clock, until));
}

VISIBLE int pthread_cond_signal(pthread_cond_t *cond)
{
	releases(HERE, cond);
	return next.pthread_cond_signal(cond);
}

VISIBLE int pthread_cond_broadcast(pthread_cond_t *cond)
{
	releases(HERE, cond);
	return next.pthread_cond_broadcast(cond);
}

VISIBLE int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	releases(HERE, mutex);
	return waited(HERE, cond, mutex, next.cnd_wait(cond, mutex));
}

VISIBLE int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until)
{
	releases(HERE, mutex);
	return waited(HERE, cond, mutex, next.cnd_timedwait(cond, mutex, until));
}

VISIBLE int cnd_signal(cnd_t *cond)
{
	releases(HERE, cond);
	return next.cnd_signal(cond);
}

VISIBLE int cnd_broadcast(cnd_t *cond)
{
	releases(HERE, cond);
	return next.cnd_broadcast(cond);
}

/* ---- barriers, locks of readers and writers, spin locks ---- */

VISIBLE int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	int rc;

	releases(HERE, barrier);
	rc = next.pthread_barrier_wait(barrier);
	acquires(HERE, barrier, rc == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : rc);
	return rc;
}

VISIBLE int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	need();
	return acquires(HERE, lock, next.pthread_rwlock_rdlock(lock));
}

VISIBLE int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	need();
	return acquires(HERE, lock, next.pthread_rwlock_tryrdlock(lock));
}

VISIBLE int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict until)
{
	need();
	return acquires(HERE, lock, next.pthread_rwlock_timedrdlock(lock, until));
}

VISIBLE int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)
{
	need();
	return acquires(HERE, lock, next.pthread_rwlock_clockrdlock(lock, clock, until));
}

VISIBLE int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	need();
	return acquires(HERE, lock, next.pthread_rwlock_wrlock(lock));
}

VISIBLE int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	need();
	return acquires(HERE, lock, next.pthread_rwlock_trywrlock(lock));
}

VISIBLE int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict until)
{
	need();
	return acquires(HERE, lock, next.pthread_rwlock_timedwrlock(lock, until));
}

VISIBLE int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)
{
	need();
	return acquires(HERE, lock, next.pthread_rwlock_clockwrlock(lock, clock, until));
}

VISIBLE int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	releases(HERE, lock);
	return next.pthread_rwlock_unlock(lock);
}

VISIBLE int pthread_spin_lock(pthread_spinlock_t *lock)
{
	need();
	return acquires(HERE, lock, next.pthread_spin_lock(lock));
}

VISIBLE int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	need();
	return acquires(HERE, lock, next.pthread_spin_trylock(lock));
}

VISIBLE int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	releases(HERE, lock);
	return next.pthread_spin_unlock(lock);
}

/* ---- once ---- */

static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	const void *site;
	const volatile void *thing;
	void (*run)(void);
} once;

/* One may be inside of another one. */
static void run_once(void)
{
	__typeof__(once) now = once;

	now.run();
	releases(now.site, now.thing);
}

VISIBLE int pthread_once(pthread_once_t *control, void (*function)(void))
{
	need();
	once.site = HERE;
	once.thing = control;
	once.run = function;
	return acquires(HERE, control, next.pthread_once(control, run_once));
}

VISIBLE void call_once(once_flag *flag, void (*function)(void))
{
	need();
	once.site = HERE;
	once.thing = flag;
	once.run = function;
	next.call_once(flag, run_once);
	acquires(HERE, flag, 0);
}

/* Static objects of C++. */
int __cxa_guard_acquire(int64_t *guard)
{
	int is_first;

	if (!next.__cxa_guard_acquire)
		find_behind("__cxa_guard_acquire", &next.__cxa_guard_acquire);
	is_first = next.__cxa_guard_acquire(guard);
	acquires(HERE, guard, 0);
	return is_first;
}

void __cxa_guard_release(int64_t *guard)
{
	if (!next.__cxa_guard_release)
		find_behind("__cxa_guard_release", &next.__cxa_guard_release);
	releases(HERE, guard);
	next.__cxa_guard_release(guard);
}

/* ---- semaphores ---- */

VISIBLE int sem_wait(sem_t *semaphore)
{
	need();
	return acquires(HERE, semaphore, next.sem_wait(semaphore));
}

VISIBLE int sem_trywait(sem_t *semaphore)
{
	need();
	return acquires(HERE, semaphore, next.sem_trywait(semaphore));
}

VISIBLE int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
	need();
	return acquires(HERE, semaphore, next.sem_timedwait(semaphore, until));
}

VISIBLE int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	need();
	return acquires(HERE, semaphore, next.sem_clockwait(semaphore, clock, until));
}

VISIBLE int sem_post(sem_t *semaphore)
{
	releases(HERE, semaphore);
	return next.sem_post(semaphore);
}
