// SPDX-License-Identifier: BSD-2-Clause
/*
 * descriptor.c - pipes, sockets and their like, by which threads may order each other; see strand.h
 *
 * All descriptors are one thing: what is written to one may be read from another one.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "see/front/behind.h"
#include "check/compiled/strand.h"
#include "check/compiled/watch.h"

#define VISIBLE __attribute__((visibility("default")))

#define CALLS(X) \
	X(read)      \
	X(readv) X(write) X(writev) X(send) X(sendmsg) X(recv) X(recvmsg) X(eventfd_read) X(eventfd_write)

/* The functions behind this library. */
static struct {
#define X(name) __typeof__(name) *name;
	CALLS(X)
#undef X
} next;

static __attribute__((noinline)) void find_all(void)
{
#define X(name) find_behind(#name, &next.name);
	CALLS(X)
#undef X
}

static void need(void)
{
	if (__builtin_expect(!next.read, 0))
		find_all();
}

static void releases(const void *site)
{
	need();
	if (strand_is_several && object_has_threads(site))
		strand_release(&next);
}

/* The call has returned rc. */
static ssize_t acquires(const void *site, ssize_t rc)
{
	if (rc >= 0 && strand_is_several && object_has_threads(site))
		strand_acquire(&next);
	return rc;
}

VISIBLE ssize_t read(int fd, void *memory, size_t bytes)
{
	need();
	return acquires(HERE, next.read(fd, memory, bytes));
}

VISIBLE ssize_t readv(int fd, const struct iovec *pieces, int count)
{
	need();
	return acquires(HERE, next.readv(fd, pieces, count));
}

VISIBLE ssize_t recv(int fd, void *memory, size_t bytes, int flags)
{
	need();
	return acquires(HERE, next.recv(fd, memory, bytes, flags));
}

VISIBLE ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	need();
	return acquires(HERE, next.recvmsg(fd, message, flags));
}

VISIBLE int eventfd_read(int fd, eventfd_t *value)
{
	need();
	return (int)acquires(HERE, next.eventfd_read(fd, value));
}

VISIBLE ssize_t write(int fd, const void *memory, size_t bytes)
{
	releases(HERE);
	return next.write(fd, memory, bytes);
}

VISIBLE ssize_t writev(int fd, const struct iovec *pieces, int count)
{
	releases(HERE);
	return next.writev(fd, pieces, count);
}

VISIBLE ssize_t send(int fd, const void *memory, size_t bytes, int flags)
{
	releases(HERE);
	return next.send(fd, memory, bytes, flags);
}

VISIBLE ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	releases(HERE);
	return next.sendmsg(fd, message, flags);
}

VISIBLE int eventfd_write(int fd, eventfd_t value)
{
	releases(HERE);
	return next.eventfd_write(fd, value);
}
