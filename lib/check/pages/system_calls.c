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

#include "see/front/behind.h"
#include "check/pages/pages.h"

/* The headers of glibc have these. */
#ifndef __GLIBC__
#define __SOCKADDR_ARG struct sockaddr *restrict
#define __CONST_SOCKADDR_ARG const struct sockaddr *
#endif

#define FEW 16
#define ADDRESSES ((uint64_t)1 << 47) /* of a process */

#define CALLS(X)                                                                                                   \
	X(read)                                                                                                        \
	X(pread)                                                                                                       \
	X(write)                                                                                                       \
	X(pwrite)                                                                                                      \
	X(readv)                                                                                                       \
	X(preadv) X(writev) X(pwritev) X(recv) X(recvfrom) X(recvmsg) X(send) X(sendto) X(sendmsg) X(process_vm_readv) \
		X(process_vm_writev) X(syscall) X(fread) X(fwrite) X(fputs)

struct calls {
#define X(name) __typeof__(name) *name;
	CALLS(X)
#undef X
};

/* Returns the functions behind this library, which others may call before its constructors. */
static const struct calls *next(void)
{
	static struct calls calls;
	static bool is_found;

	if (__atomic_load_n(&is_found, __ATOMIC_ACQUIRE))
		return &calls;
#define X(name) find_behind(#name, &calls.name);
	CALLS(X)
#undef X
	__atomic_store_n(&is_found, true, __ATOMIC_RELEASE);
	return &calls;
}

/* ---- lists of pieces ---- */

static bool has_alias(const struct iovec list[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (behind_alias(list[i].iov_base) != list[i].iov_base)
			return true;
	}
	return false;
}

/* Returns the list itself, or a copy with other addresses, for which `few` may have room. */
static const struct iovec *behind_aliases(const struct iovec list[], size_t count, struct iovec few[FEW])
{
	struct iovec *copy = few;

	if (!list || !has_alias(list, count))
		return list;
	if (count > FEW)
		copy = malloc(count * sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = (struct iovec){ behind_alias(list[i].iov_base), list[i].iov_len };
	return copy ? copy : list;
}

static void end(const struct iovec *used, const struct iovec *list, const struct iovec *few)
{
	int error = errno;

	if (used != list && used != few)
		free((void *)(uintptr_t)used);
	errno = error;
}

static size_t positive(int count)
{
	return count > 0 ? (size_t)count : 0;
}

typedef ssize_t vector_call(int fd, const struct iovec *list, int count);
typedef ssize_t vector_call_at(int fd, const struct iovec *list, int count, off_t at);

static ssize_t move(vector_call *call, int fd, const struct iovec *list, int count)
{
	struct iovec few[FEW];
	const struct iovec *used = behind_aliases(list, positive(count), few);
	ssize_t moved = call(fd, used, count);

	end(used, list, few);
	return moved;
}

static ssize_t move_at(vector_call_at *call, int fd, const struct iovec *list, int count, off_t at)
{
	struct iovec few[FEW];
	const struct iovec *used = behind_aliases(list, positive(count), few);
	ssize_t moved = call(fd, used, count, at);

	end(used, list, few);
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

	if ((uint64_t)(uintptr_t)there->iov_base >= ADDRESSES - ALIAS_BYTES)
		return -1;
	return call(pid, here, here_count, &behind, 1, flags);
}

static ssize_t move_vm(vm_call *call, pid_t pid, const struct iovec *list, unsigned long count,
                       const struct iovec *there, unsigned long there_count, unsigned long flags)
{
	struct iovec few[FEW];
	const struct iovec *used = behind_aliases(list, count, few);
	ssize_t moved = call(pid, used, count, there, there_count, flags);

	if (moved < 0 && errno == EFAULT && there_count > 0) {
		moved = move_behind(call, pid, used, count, there, flags);
		errno = moved < 0 ? EFAULT : errno;
	}
	end(used, list, few);
	return moved;
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
	return move(next()->readv, fd, list, count);
}

ssize_t writev(int fd, const struct iovec *list, int count)
{
	return move(next()->writev, fd, list, count);
}

ssize_t preadv(int fd, const struct iovec *list, int count, off_t at)
{
	return move_at(next()->preadv, fd, list, count, at);
}

ssize_t pwritev(int fd, const struct iovec *list, int count, off_t at)
{
	return move_at(next()->pwritev, fd, list, count, at);
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
	struct iovec few[FEW], *list = message->msg_iov;
	ssize_t moved;

	message->msg_iov = (struct iovec *)(uintptr_t)behind_aliases(list, message->msg_iovlen, few);
	moved = next()->recvmsg(fd, message, flags);
	end(message->msg_iov, list, few);
	message->msg_iov = list;
	return moved;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct iovec few[FEW];
	struct msghdr copy = *message;
	ssize_t moved;

	copy.msg_iov = (struct iovec *)(uintptr_t)behind_aliases(message->msg_iov, message->msg_iovlen, few);
	moved = next()->sendmsg(fd, &copy, flags);
	end(copy.msg_iov, message->msg_iov, few);
	return moved;
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
