// SPDX-License-Identifier: BSD-2-Clause
/* Calls that open files and directories. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/nodes/nodes.h"

struct opening {
	char room[NODES_PATH_MAX];
	const char *path;
	int fd; /* descriptor of the text, or -1: open `path` */
};

static struct opening *begin(struct opening *opening, const char *path, int flags)
{
	int err = errno;

	opening->path = nodes_path(path, opening->room);
	opening->fd = opening->path == path ? -1 : nodes_text(opening->path, flags);
	errno = err;
	return opening;
}

static mode_t mode_of(int flags, va_list arguments)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

SOFT_EXPORT int open(const char *path, int flags, ...)
{
	struct opening opening;
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	begin(&opening, path, flags);
	return opening.fd >= 0 ? opening.fd : NEXT(open)(opening.path, flags, mode);
}

SOFT_EXPORT int openat(int dir, const char *path, int flags, ...)
{
	struct opening opening;
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	begin(&opening, path, flags);
	return opening.fd >= 0 ? opening.fd : NEXT(openat)(dir, opening.path, flags, mode);
}

/* Only streams that read from the beginning get a text. */
static int flags_of(const char *mode)
{
	int flags = strchr(mode, 'e') ? O_CLOEXEC : 0;

	return flags | (mode[0] == 'r' && !strchr(mode, '+') ? O_RDONLY : O_RDWR);
}

SOFT_EXPORT FILE *fopen(const char *path, const char *mode)
{
	struct opening opening;

	begin(&opening, path, flags_of(mode));
	return opening.fd >= 0 ? fdopen(opening.fd, mode) : NEXT(fopen)(opening.path, mode);
}

SOFT_EXPORT DIR *opendir(const char *path)
{
	char room[NODES_PATH_MAX];

	return NEXT(opendir)(nodes_path(path, room));
}

/* Names of glibc only. */
#ifdef __GLIBC__

/* Called by programs that are compiled with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

SOFT_EXPORT int open64(const char *path, int flags, ...)
{
	struct opening opening;
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	begin(&opening, path, flags);
	return opening.fd >= 0 ? opening.fd : NEXT(open64)(opening.path, flags, mode);
}

SOFT_EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	struct opening opening;
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	begin(&opening, path, flags);
	return opening.fd >= 0 ? opening.fd : NEXT(openat64)(dir, opening.path, flags, mode);
}

SOFT_EXPORT int __open_2(const char *path, int flags)
{
	struct opening opening;

	begin(&opening, path, flags);
	return opening.fd >= 0 ? opening.fd : NEXT(__open_2)(opening.path, flags);
}

SOFT_EXPORT int __open64_2(const char *path, int flags)
{
	struct opening opening;

	begin(&opening, path, flags);
	return opening.fd >= 0 ? opening.fd : NEXT(__open64_2)(opening.path, flags);
}

SOFT_EXPORT int __openat_2(int dir, const char *path, int flags)
{
	struct opening opening;

	begin(&opening, path, flags);
	return opening.fd >= 0 ? opening.fd : NEXT(__openat_2)(dir, opening.path, flags);
}

SOFT_EXPORT int __openat64_2(int dir, const char *path, int flags)
{
	struct opening opening;

	begin(&opening, path, flags);
	return opening.fd >= 0 ? opening.fd : NEXT(__openat64_2)(dir, opening.path, flags);
}

SOFT_EXPORT FILE *fopen64(const char *path, const char *mode)
{
	struct opening opening;

	begin(&opening, path, flags_of(mode));
	return opening.fd >= 0 ? fdopen(opening.fd, mode) : NEXT(fopen64)(opening.path, mode);
}

#endif
