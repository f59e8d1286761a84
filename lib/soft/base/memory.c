// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory files that processes share.
 *
 * DESIGN NOTES
 *
 * Access to a page that a file has lost, or that the machine cannot provide, raises SIGBUS. So a
 * file of another process is mapped only if it is sealed against shrinking, and this process's
 * files are sealed. Memory that is certain to be used is allocated beforehand, where the call can
 * still fail. A file above the process's limit of file size raises SIGXFSZ, so the limit is checked
 * first.
 */
#include "soft/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STEP_BYTES = 4096,
};

static int allocate(int fd, size_t offset, size_t length)
{
	int err;

	do
		err = fallocate(fd, 0, (off_t)offset, (off_t)length) == 0 ? 0 : errno;
	while (err == EINTR);
	if (err == EOPNOTSUPP)
		return 0;
	return err == ENOSPC ? ENOMEM : err;
}

int soft_memory_grow(int fd, size_t table, size_t element, size_t index)
{
	size_t at = index * element;

	return at % STEP_BYTES ? 0 : allocate(fd, table + at, STEP_BYTES);
}

static bool is_too_large(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur;
}

static int size_and_allocate(int fd, size_t size, size_t first)
{
	if (is_too_large(size))
		return EFBIG;
	return ftruncate(fd, (off_t)size) == 0 ? allocate(fd, 0, first) : errno;
}

/* Before Linux 5.1 all processes may write. */
static int seal(int fd, enum soft_memory_writers writers)
{
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	if (writers == SOFT_MEMORY_OWNER_WRITES && fcntl(fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) == 0)
		return 0;
	return fcntl(fd, F_ADD_SEALS, seals) == 0 ? 0 : errno;
}

/* Maps, then seals: the mapping stays writable. */
static int map_and_seal(int fd, size_t size, enum soft_memory_writers writers, void **map)
{
	int err;

	*map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (*map == MAP_FAILED)
		return errno;
	err = seal(fd, writers);
	/* If seals cannot be queried, no peer would map it. */
	if (!err && !soft_memory_safe(fd, size))
		err = EPERM;
	if (err)
		munmap(*map, size);
	return err;
}

void *soft_memory_new(const char *name, size_t size, size_t first, enum soft_memory_writers writers, int *fd)
{
	void *map = NULL;
	int err;

	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return NULL;
	err = size_and_allocate(*fd, size, first);
	if (!err)
		err = map_and_seal(*fd, size, writers, &map);
	if (!err)
		return map;
	close(*fd);
	errno = err;
	return NULL;
}

uint64_t soft_memory_inode(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

bool soft_memory_safe(int fd, size_t size)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && seals & F_SEAL_SHRINK && lseek(fd, 0, SEEK_END) >= (off_t)size;
}
