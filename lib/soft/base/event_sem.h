// SPDX-License-Identifier: BSD-2-Clause
/*
 * A semaphore on an eventfd, which counts the entries of a list. Programs can poll the descriptor
 * and set O_NONBLOCK, as with the kernel's.
 *
 * DESIGN NOTES
 *
 * A thread first takes a count, by a read that blocks and can be interrupted or cancelled like the
 * kernel's, then an entry, under the list's lock. Dropping an entry takes a count back under the
 * lock, without blocking. A thread that has just read that count finds another entry, or none, and
 * waits again. So counts, with those just read, are never fewer than entries.
 */
#ifndef SOFT_EVENT_SEM_H
#define SOFT_EVENT_SEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef RWF_NOWAIT /* musl's headers lack it */
#define RWF_NOWAIT 8
#endif

/* Returns the descriptor, or -1 with errno. */
static inline int event_sem_new(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
}

/*
 * Counts a new entry, under the list's lock. Returns false if the program has closed or replaced
 * the descriptor. Raw system call: write(2) is a cancellation point.
 */
static inline bool event_sem_post(int fd)
{
	uint64_t one = 1;

	return syscall(SYS_write, fd, &one, sizeof(one)) == (long)sizeof(one);
}

/* Returns 0, or -1 with errno of read(2). */
static inline int event_sem_wait(int fd)
{
	uint64_t one;

	return read(fd, &one, sizeof(one)) == (ssize_t)sizeof(one) ? 0 : -1;
}

/*
 * Takes a dropped entry's count, under the list's lock. Linux before 5.8 cannot do this without
 * blocking: a later read then finds no entry.
 */
static inline void event_sem_forget(int fd)
{
	uint64_t one;
	struct iovec to = { .iov_base = &one, .iov_len = sizeof(one) };

	(void)syscall(SYS_preadv2, fd, &to, 1, -1L, -1L, RWF_NOWAIT);
}

#endif
