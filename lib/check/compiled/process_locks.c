// SPDX-License-Identifier: BSD-2-Clause
/*
 * process_locks.c - locks of several processes, which lie in memory that these share; see strand.h
 *
 * The checker does not follow what they order. It notes that the program has some.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>

#include "see/front/behind.h"
#include "check/compiled/watch.h"

#define CALLS(X)                                                                                              \
	X(pthread_mutexattr_setpshared) X(pthread_rwlockattr_setpshared) X(pthread_condattr_setpshared)           \
		X(pthread_barrierattr_setpshared) X(pthread_spin_init) X(sem_init) X(sem_open)

static struct {
#define X(name) __typeof__(name) *name;
	CALLS(X)
#undef X
} next;

static void find_all(void)
{
#define X(name) find_behind(#name, &next.name);
	CALLS(X)
#undef X
}

/* The program has made a lock. */
static void note(const void *site, bool is_shared)
{
	if (!next.sem_init)
		find_all();
	if (is_shared && object_has(site))
		strand_outside();
}

#pragma GCC visibility push(default)

int pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int shared)
{
	note(HERE, shared);
	return next.pthread_mutexattr_setpshared(attributes, shared);
}

int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attributes, int shared)
{
	note(HERE, shared);
	return next.pthread_rwlockattr_setpshared(attributes, shared);
}

int pthread_condattr_setpshared(pthread_condattr_t *attributes, int shared)
{
	note(HERE, shared);
	return next.pthread_condattr_setpshared(attributes, shared);
}

int pthread_barrierattr_setpshared(pthread_barrierattr_t *attributes, int shared)
{
	note(HERE, shared);
	return next.pthread_barrierattr_setpshared(attributes, shared);
}

int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	note(HERE, shared);
	return next.pthread_spin_init(lock, shared);
}

int sem_init(sem_t *semaphore, int shared, unsigned value)
{
	note(HERE, shared);
	return next.sem_init(semaphore, shared, value);
}

sem_t *sem_open(const char *name, int flags, ...)
{
	unsigned mode = 0, value = 0;
	va_list list;

	note(HERE, true);
	va_start(list, flags);
	if (flags & O_CREAT) {
		mode = va_arg(list, unsigned);
		value = va_arg(list, unsigned);
	}
	va_end(list);
	return next.sem_open(name, flags, mode, value);
}

#pragma GCC visibility pop
