// SPDX-License-Identifier: BSD-2-Clause
/*
 * The mapping at an address.
 *
 * DESIGN NOTES
 *
 * Since Linux 6.11 an ioctl on /proc/self/maps reports the mapping at one address. Older kernels
 * need the text read up to the address, which is slow. The descriptor refers to the address space
 * of the process that opened it, so a child opens its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "soft/mem/mr.h"

/* Mirrors linux/fs.h since Linux 6.11. */
struct query {
	uint64_t size; /* of this structure */
	uint64_t flags;
	uint64_t addr;
	uint64_t vma_start, vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t name_size; /* in: room for the name, out: its size with the final 0 */
	uint32_t build_id_size;
	uint64_t name_addr;
	uint64_t build_id_addr;
};

#define QUERY _IOWR('f', 17, struct query)

enum {
	QUERY_READABLE = 1,
	QUERY_WRITABLE = 2,
	QUERY_SHARED = 8,
};

static pthread_mutex_t query_lock = PTHREAD_MUTEX_INITIALIZER;
static int query_fd = -1;
static pid_t query_pid;

/* Returns a descriptor for queries, or -1 with errno. */
static int query_open(void)
{
	int fd;

	pthread_mutex_lock(&query_lock);
	if (query_fd < 0 || query_pid != getpid()) {
		if (query_fd >= 0)
			close(query_fd);
		query_fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
		query_pid = getpid();
	}
	fd = query_fd;
	pthread_mutex_unlock(&query_lock);
	return fd;
}

/* Returns 0, ENOENT if nothing is mapped there, or another errno value: read the text. */
static int by_query(uint64_t addr, struct soft_vma *vma)
{
	struct query query = {
		.size = sizeof(query), .addr = addr, .name_size = sizeof(vma->path), .name_addr = (uintptr_t)vma->path
	};
	int fd = query_open();

	/* All of it: tools do not see what the kernel writes. */
	memset(vma->path, 0, sizeof(vma->path));
	if (fd < 0)
		return EIO;
	if (ioctl(fd, QUERY, &query) != 0)
		return errno;
	vma->start = query.vma_start;
	vma->end = query.vma_end;
	vma->offset = query.vma_offset;
	vma->dev = makedev(query.dev_major, query.dev_minor);
	vma->inode = query.inode;
	vma->readable = query.vma_flags & QUERY_READABLE;
	vma->writable = query.vma_flags & QUERY_WRITABLE;
	vma->shared = query.vma_flags & QUERY_SHARED;
	return 0;
}

static bool parse(const char *line, struct soft_vma *vma)
{
	unsigned int major, minor;
	char perms[5];
	int n = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %255[^\n]", &vma->start, &vma->end,
	               perms, &vma->offset, &major, &minor, &vma->inode, vma->path);

	if (n < 7)
		return false;
	if (n == 7)
		vma->path[0] = '\0';
	vma->dev = makedev(major, minor);
	vma->readable = perms[0] == 'r';
	vma->writable = perms[1] == 'w';
	vma->shared = perms[3] == 's';
	return true;
}

static int by_text(uint64_t addr, struct soft_vma *vma)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int err = ENOENT;
	char line[512];

	if (!maps)
		return errno == ENOENT ? ENOSYS : errno; /* a missing /proc says nothing about the address */
	while (err && fgets(line, sizeof(line), maps))
		if (parse(line, vma) && vma->start <= addr && addr < vma->end)
			err = 0;
	fclose(maps);
	return err;
}

int soft_procmap(uint64_t addr, struct soft_vma *vma)
{
	int err = by_query(addr, vma);

	return err && err != ENOENT ? by_text(addr, vma) : err;
}

void soft_procmap_forked(void)
{
	pthread_mutex_init(&query_lock, NULL);
}
