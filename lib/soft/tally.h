// SPDX-License-Identifier: BSD-2-Clause
/*
 * A descriptor that counts the entries of a list, so that programs can poll it, and set O_NONBLOCK, as with the kernel's.
 *
 * DESIGN NOTES
 * The count changes together with the list, under the list's lock: an entry that is there has its count, and taking one
 * never blocks. Whoever waits does so without the lock and without taking anything, and then looks into the list; an
 * entry that was forgotten meanwhile has taken its count along.
 */
#ifndef SOFT_TALLY_H
#define SOFT_TALLY_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -1 and errno, or the descriptor. */
static inline int tally_new(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
}

/* By number, because read(2) and write(2) are places where a thread can be cancelled, with the lock. */
static inline bool tally_syscall(long number, int fd, uint64_t *count)
{
	return syscall(number, fd, count, sizeof(*count)) == (long)sizeof(*count);
}

/* One entry more; under the list's lock. false only for a descriptor that the program has closed or replaced. */
static inline bool tally_add(int fd)
{
	uint64_t one = 1;

	return tally_syscall(SYS_write, fd, &one);
}

/* One entry less, of those that are there; under the list's lock. */
static inline bool tally_take(int fd)
{
	uint64_t one;

	return tally_syscall(SYS_read, fd, &one);
}

/* The list was empty: wait until it need not be any more. -1 and errno if it is not to be waited, or that failed. */
static inline int tally_wait(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -1;
	if (flags & O_NONBLOCK) {
		errno = EAGAIN;
		return -1;
	}
	return poll(&ready, 1, -1) == 1 ? 0 : -1;
}

#endif
