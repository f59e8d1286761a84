// SPDX-License-Identifier: BSD-2-Clause
/*
 * A semaphore on an eventfd, which counts the entries of a list, so that programs can poll the
 * descriptor, and set O_NONBLOCK, as with the kernel's.
 *
 * DESIGN NOTES A thread that wants an entry takes a count first, by a read that blocks, may be
 * interrupted and may be cancelled as the kernel's own, and then an entry, under the list's lock.
 * A thread that forgets an entry takes a count back, with the lock held and so without ever
 * blocking: the count may be in the hands of a thread that has just read it, which then finds the
 * list empty and waits again, or another entry. So there are never fewer counts, those in hands
 * included, than entries.
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

/* -1 and errno, or the descriptor. */
static inline int event_sem_new(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
}

/*
 * One entry more; under the list's lock. false only for a descriptor that the program has closed or
 * replaced. By number, because write(2) is a place where a thread can be cancelled, with the lock.
 */
static inline bool event_sem_post(int fd)
{
	uint64_t one = 1;

	return syscall(SYS_write, fd, &one, sizeof(one)) == (long)sizeof(one);
}

/* Wait for a count and take it. -1 and errno, as read(2) has it. */
static inline int event_sem_wait(int fd)
{
	uint64_t one;

	return read(fd, &one, sizeof(one)) == (ssize_t)sizeof(one) ? 0 : -1;
}

/*
 * An entry was forgotten; under the list's lock. Before Linux 5.8, which cannot do this without
 * blocking, its count stays: one look at the descriptor will be in vain.
 */
static inline void event_sem_forget(int fd)
{
	uint64_t one;
	struct iovec to = { .iov_base = &one, .iov_len = sizeof(one) };

	(void)syscall(SYS_preadv2, fd, &to, 1, -1L, -1L, RWF_NOWAIT);
}

#endif
