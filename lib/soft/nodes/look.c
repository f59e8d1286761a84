// SPDX-License-Identifier: BSD-2-Clause
/* Calls that query files: attributes, permissions, links, directories. */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/nodes/nodes.h"

SOFT_EXPORT int stat(const char *path, struct stat *about)
{
	char room[NODES_PATH_MAX];

	return NEXT(stat)(nodes_path(path, room), about);
}

SOFT_EXPORT int lstat(const char *path, struct stat *about)
{
	char room[NODES_PATH_MAX];

	return NEXT(lstat)(nodes_path(path, room), about);
}

SOFT_EXPORT int fstatat(int dir, const char *path, struct stat *about, int flags)
{
	char room[NODES_PATH_MAX];

	return NEXT(fstatat)(dir, nodes_path(path, room), about, flags);
}

SOFT_EXPORT int access(const char *path, int how)
{
	char room[NODES_PATH_MAX];

	return NEXT(access)(nodes_path(path, room), how);
}

SOFT_EXPORT int eaccess(const char *path, int how)
{
	char room[NODES_PATH_MAX];

	return NEXT(eaccess)(nodes_path(path, room), how);
}

SOFT_EXPORT int euidaccess(const char *path, int how)
{
	char room[NODES_PATH_MAX];

	return NEXT(euidaccess)(nodes_path(path, room), how);
}

SOFT_EXPORT int faccessat(int dir, const char *path, int how, int flags)
{
	char room[NODES_PATH_MAX];

	return NEXT(faccessat)(dir, nodes_path(path, room), how, flags);
}

SOFT_EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	char room[NODES_PATH_MAX];

	return NEXT(getxattr)(nodes_path(path, room), name, value, size);
}

SOFT_EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	char room[NODES_PATH_MAX];

	return NEXT(lgetxattr)(nodes_path(path, room), name, value, size);
}

SOFT_EXPORT ssize_t listxattr(const char *path, char *names, size_t size)
{
	char room[NODES_PATH_MAX];

	return NEXT(listxattr)(nodes_path(path, room), names, size);
}

SOFT_EXPORT ssize_t llistxattr(const char *path, char *names, size_t size)
{
	char room[NODES_PATH_MAX];

	return NEXT(llistxattr)(nodes_path(path, room), names, size);
}

SOFT_EXPORT int chdir(const char *path)
{
	char room[NODES_PATH_MAX];

	return NEXT(chdir)(nodes_path(path, room));
}

SOFT_EXPORT ssize_t readlink(const char *restrict path, char *restrict target, size_t size)
{
	char room[NODES_PATH_MAX];

	return NEXT(readlink)(nodes_path(path, room), target, size);
}

SOFT_EXPORT ssize_t readlinkat(int dir, const char *restrict path, char *restrict target, size_t size)
{
	char room[NODES_PATH_MAX];

	return NEXT(readlinkat)(dir, nodes_path(path, room), target, size);
}

SOFT_EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
	char room[NODES_PATH_MAX];

	return nodes_answer(NEXT(realpath)(nodes_path(path, room), resolved));
}

typedef int choose_fn(const struct dirent *entry);
typedef int order_fn(const struct dirent **one, const struct dirent **other);

SOFT_EXPORT int scandir(const char *restrict path, struct dirent ***restrict list, choose_fn *choose, order_fn *order)
{
	char room[NODES_PATH_MAX];

	return NEXT(scandir)(nodes_path(path, room), list, choose, order);
}

typedef int trouble_fn(const char *path, int err);

static int answer_all(int status, size_t count, char **paths)
{
	for (size_t i = 0; status == 0 && i < count; i++)
		nodes_answer(paths[i]);
	return status;
}

SOFT_EXPORT int glob(const char *restrict pattern, int flags, trouble_fn *trouble, glob_t *restrict found)
{
	char room[NODES_PATH_MAX];
	int status = NEXT(glob)(nodes_path(pattern, room), flags, trouble, found);

	return answer_all(status, found->gl_pathc, found->gl_pathv + (flags & GLOB_DOOFFS ? found->gl_offs : 0));
}

/* Names of glibc only. */
#ifdef __GLIBC__

/* Called by programs that are linked with a glibc before 2.33 or compiled with _FORTIFY_SOURCE. */
int __xstat(int version, const char *path, struct stat *about);
int __xstat64(int version, const char *path, struct stat64 *about);
int __lxstat(int version, const char *path, struct stat *about);
int __lxstat64(int version, const char *path, struct stat64 *about);
int __fxstatat(int version, int dir, const char *path, struct stat *about, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *about, int flags);
char *__realpath_chk(const char *path, char *resolved, size_t size);
ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t room);
ssize_t __readlinkat_chk(int dir, const char *path, char *target, size_t size, size_t room);

SOFT_EXPORT int stat64(const char *path, struct stat64 *about)
{
	char room[NODES_PATH_MAX];

	return NEXT(stat64)(nodes_path(path, room), about);
}

SOFT_EXPORT int lstat64(const char *path, struct stat64 *about)
{
	char room[NODES_PATH_MAX];

	return NEXT(lstat64)(nodes_path(path, room), about);
}

SOFT_EXPORT int fstatat64(int dir, const char *path, struct stat64 *about, int flags)
{
	char room[NODES_PATH_MAX];

	return NEXT(fstatat64)(dir, nodes_path(path, room), about, flags);
}

SOFT_EXPORT int __xstat(int version, const char *path, struct stat *about)
{
	char room[NODES_PATH_MAX];

	return NEXT(__xstat)(version, nodes_path(path, room), about);
}

SOFT_EXPORT int __xstat64(int version, const char *path, struct stat64 *about)
{
	char room[NODES_PATH_MAX];

	return NEXT(__xstat64)(version, nodes_path(path, room), about);
}

SOFT_EXPORT int __lxstat(int version, const char *path, struct stat *about)
{
	char room[NODES_PATH_MAX];

	return NEXT(__lxstat)(version, nodes_path(path, room), about);
}

SOFT_EXPORT int __lxstat64(int version, const char *path, struct stat64 *about)
{
	char room[NODES_PATH_MAX];

	return NEXT(__lxstat64)(version, nodes_path(path, room), about);
}

SOFT_EXPORT int __fxstatat(int version, int dir, const char *path, struct stat *about, int flags)
{
	char room[NODES_PATH_MAX];

	return NEXT(__fxstatat)(version, dir, nodes_path(path, room), about, flags);
}

SOFT_EXPORT int __fxstatat64(int version, int dir, const char *path, struct stat64 *about, int flags)
{
	char room[NODES_PATH_MAX];

	return NEXT(__fxstatat64)(version, dir, nodes_path(path, room), about, flags);
}

SOFT_EXPORT int statx(int dir, const char *restrict path, int flags, unsigned int mask, struct statx *restrict about)
{
	char room[NODES_PATH_MAX];

	return NEXT(statx)(dir, nodes_path(path, room), flags, mask, about);
}

SOFT_EXPORT ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t target_size)
{
	char room[NODES_PATH_MAX];

	return NEXT(__readlink_chk)(nodes_path(path, room), target, size, target_size);
}

SOFT_EXPORT ssize_t __readlinkat_chk(int dir, const char *path, char *target, size_t size, size_t target_size)
{
	char room[NODES_PATH_MAX];

	return NEXT(__readlinkat_chk)(dir, nodes_path(path, room), target, size, target_size);
}

SOFT_EXPORT char *__realpath_chk(const char *path, char *resolved, size_t size)
{
	char room[NODES_PATH_MAX];

	return nodes_answer(NEXT(__realpath_chk)(nodes_path(path, room), resolved, size));
}

SOFT_EXPORT char *canonicalize_file_name(const char *path)
{
	char room[NODES_PATH_MAX];

	return nodes_answer(NEXT(canonicalize_file_name)(nodes_path(path, room)));
}

typedef int choose64_fn(const struct dirent64 *entry);
typedef int order64_fn(const struct dirent64 **one, const struct dirent64 **other);

SOFT_EXPORT int scandir64(const char *restrict path, struct dirent64 ***restrict list, choose64_fn *choose,
                          order64_fn *order)
{
	char room[NODES_PATH_MAX];

	return NEXT(scandir64)(nodes_path(path, room), list, choose, order);
}

SOFT_EXPORT int glob64(const char *restrict pattern, int flags, trouble_fn *trouble, glob64_t *restrict found)
{
	char room[NODES_PATH_MAX];
	int status = NEXT(glob64)(nodes_path(pattern, room), flags, trouble, found);

	return answer_all(status, found->gl_pathc, found->gl_pathv + (flags & GLOB_DOOFFS ? found->gl_offs : 0));
}

#endif
