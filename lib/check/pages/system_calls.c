// SPDX-License-Identifier: BSD-2-Clause
/*
 * system_calls.c - functions of the C library that give memory to the kernel; see pages.h
 *
 * The kernel gets the memory behind an alias. Where another process's memory is refused, it may be
 * a closed page of an alias there: all processes of the job have theirs at the same distance.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check/pages/pages.h"

/* The headers of glibc have these. */
#ifndef __GLIBC__
#define __SOCKADDR_ARG struct sockaddr *restrict
#define __CONST_SOCKADDR_ARG const struct sockaddr *
#endif

#define FEW 16
#define ADDRESSES ((uint64_t)1 << 47) /* of a process */

#define CALLS(X) CALLS_OF_PIECES(X) CALLS_OF_LISTS(X)
#define CALLS_OF_PIECES(X) \
	X(read) X(pread) X(write) X(pwrite) X(recv) X(recvfrom) X(send) X(sendto) X(syscall) X(fread) X(fwrite) X(fputs)
#define CALLS_OF_LISTS(X) \
	X(readv) X(preadv) X(writev) X(pwritev) X(recvmsg) X(sendmsg) X(process_vm_readv) X(process_vm_writev)

#include "check/pages/next.h"

/* ---- lists of pieces ---- */

/* The pieces of a call, with other addresses. */
struct copy {
	struct iovec few[FEW];
	struct iovec *many; /* NULL: there are few */
};

static bool has_alias(const struct iovec list[], long count)
{
	for (long i = 0; list && i < count; i++) {
		if (behind_alias(list[i].iov_base) != list[i].iov_base)
			return true;
	}
	return false;
}

/* Returns the list itself, or a copy, which lasts until `done`. */
static struct iovec *behind_aliases(struct copy *copy, const struct iovec list[], long count)
{
	bool is_needed = has_alias(list, count);
	struct iovec *to;

	copy->many = is_needed && count > FEW ? malloc((size_t)count * sizeof(*to)) : NULL;
	to = is_needed && count <= FEW ? copy->few : copy->many;
	for (long i = 0; to && i < count; i++)
		to[i] = (struct iovec){ behind_alias(list[i].iov_base), list[i].iov_len };
	return to ? to : (struct iovec *)(uintptr_t)list;
}

/* Returns what the call has returned. */
static ssize_t done(const struct copy *copy, ssize_t moved)
{
	int error = errno;

	free(copy->many);
	errno = error;
	return moved;
}

/* ---- memory of another process ---- */

typedef ssize_t vm_call(pid_t pid, const struct iovec *here, unsigned long here_count, const struct iovec *there,
                        unsigned long there_count, unsigned long flags);

/* Moves the first piece of the other process only, as if the next were refused. */
static ssize_t move_behind(vm_call *call, pid_t pid, const struct iovec *here, unsigned long here_count,
                           const struct iovec *there, unsigned long flags)
{
	struct iovec behind = { (char *)there->iov_base + ALIAS_BYTES, there->iov_len };
	ssize_t moved = -1;

	if ((uint64_t)(uintptr_t)there->iov_base < ADDRESSES - ALIAS_BYTES)
		moved = call(pid, here, here_count, &behind, 1, flags);
	if (moved < 0)
		errno = EFAULT;
	return moved;
}

static ssize_t move_vm(vm_call *call, pid_t pid, const struct iovec *list, unsigned long count,
                       const struct iovec *there, unsigned long there_count, unsigned long flags)
{
	struct copy copy;
	const struct iovec *here = behind_aliases(&copy, list, (long)count);
	ssize_t moved = call(pid, here, count, there, there_count, flags);

	if (moved < 0 && errno == EFAULT && there_count > 0)
		moved = move_behind(call, pid, here, count, there, flags);
	return done(&copy, moved);
}

#pragma GCC visibility push(default)

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count, const struct iovec *there,
                         unsigned long there_count, unsigned long flags)
{
	return move_vm(next()->process_vm_readv, pid, here, here_count, there, there_count, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long here_count, const struct iovec *there,
                          unsigned long there_count, unsigned long flags)
{
	return move_vm(next()->process_vm_writev, pid, here, here_count, there, there_count, flags);
}

/* Libraries make these calls by number, too. */
long syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_process_vm_readv || number == SYS_process_vm_writev)
		return move_vm(number == SYS_process_vm_readv ? next()->process_vm_readv : next()->process_vm_writev,
		               (pid_t)a[0], (const struct iovec *)a[1], (unsigned long)a[2], (const struct iovec *)a[3],
		               (unsigned long)a[4], (unsigned long)a[5]);
	return next()->syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- files ---- */

ssize_t read(int fd, void *buffer, size_t bytes)
{
	return next()->read(fd, behind_alias(buffer), bytes);
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t at)
{
	return next()->pread(fd, behind_alias(buffer), bytes, at);
}

ssize_t write(int fd, const void *buffer, size_t bytes)
{
	return next()->write(fd, behind_alias(buffer), bytes);
}

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t at)
{
	return next()->pwrite(fd, behind_alias(buffer), bytes, at);
}

ssize_t readv(int fd, const struct iovec *list, int count)
{
	struct copy copy;

	return done(&copy, next()->readv(fd, behind_aliases(&copy, list, count), count));
}

ssize_t writev(int fd, const struct iovec *list, int count)
{
	struct copy copy;

	return done(&copy, next()->writev(fd, behind_aliases(&copy, list, count), count));
}

ssize_t preadv(int fd, const struct iovec *list, int count, off_t at)
{
	struct copy copy;

	return done(&copy, next()->preadv(fd, behind_aliases(&copy, list, count), count, at));
}

ssize_t pwritev(int fd, const struct iovec *list, int count, off_t at)
{
	struct copy copy;

	return done(&copy, next()->pwritev(fd, behind_aliases(&copy, list, count), count, at));
}

#ifdef __GLIBC__
/* Each of these functions has two names. */
extern __typeof__(pread) pread64 __attribute__((alias("pread")));
extern __typeof__(pwrite) pwrite64 __attribute__((alias("pwrite")));
extern __typeof__(preadv) preadv64 __attribute__((alias("preadv")));
extern __typeof__(pwritev) pwritev64 __attribute__((alias("pwritev")));
#endif

/* ---- sockets ---- */

ssize_t recv(int fd, void *buffer, size_t bytes, int flags)
{
	return next()->recv(fd, behind_alias(buffer), bytes, flags);
}

ssize_t recvfrom(int fd, void *buffer, size_t bytes, int flags, __SOCKADDR_ARG from, socklen_t *length)
{
	return next()->recvfrom(fd, behind_alias(buffer), bytes, flags, from, length);
}

ssize_t send(int fd, const void *buffer, size_t bytes, int flags)
{
	return next()->send(fd, behind_alias(buffer), bytes, flags);
}

ssize_t sendto(int fd, const void *buffer, size_t bytes, int flags, __CONST_SOCKADDR_ARG to, socklen_t length)
{
	return next()->sendto(fd, behind_alias(buffer), bytes, flags, to, length);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	struct copy copy;
	struct iovec *list = message->msg_iov;
	ssize_t moved;

	message->msg_iov = behind_aliases(&copy, list, (long)message->msg_iovlen);
	moved = done(&copy, next()->recvmsg(fd, message, flags));
	message->msg_iov = list;
	return moved;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct copy copy;
	struct msghdr changed = *message;

	changed.msg_iov = behind_aliases(&copy, message->msg_iov, (long)message->msg_iovlen);
	return done(&copy, next()->sendmsg(fd, &changed, flags));
}

/* ---- streams, which call the kernel by themselves ---- */

size_t fread(void *buffer, size_t size, size_t count, FILE *file)
{
	return next()->fread(behind_alias(buffer), size, count, file);
}

size_t fwrite(const void *buffer, size_t size, size_t count, FILE *file)
{
	return next()->fwrite(behind_alias(buffer), size, count, file);
}

int fputs(const char *text, FILE *file)
{
	return next()->fputs(behind_alias(text), file);
}

#pragma GCC visibility pop
