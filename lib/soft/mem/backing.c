// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory behind an address range: whether it may be registered, and whether peers can map it.
 *
 * DESIGN NOTES
 *
 * The kernel reports the file behind a shared mapping (device and inode), but no descriptor. The
 * file is found by its path or among the open descriptors, and taken only if device and inode
 * agree. One descriptor per file is kept while a region needs it, and peers open it via /proc. If
 * that fails, only speed is lost.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/base/tsan.h"
#include "soft/mem/mr.h"

#define LIKELY_DESCRIPTORS 4

struct file {
	struct file *next;
	dev_t dev;
	ino_t ino;
	int fd;
	uint32_t users;
};

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *files;

/* Returns whether `next` continues the file where `vma` ends. */
static bool continues(const struct soft_vma *vma, const struct soft_vma *next)
{
	return next->shared && next->inode == vma->inode && next->dev == vma->dev &&
	       next->offset == vma->offset + (vma->end - vma->start);
}

/*
 * Walks the mappings of [start, end). Returns 0 if they cover it with the requested rights. *first
 * becomes the first one; its inode is 0 unless all are one stretch of one shared file.
 */
static int walk(uint64_t start, uint64_t end, bool writable, struct soft_vma *first)
{
	struct soft_vma last = { 0 }, vma;

	for (uint64_t covered = start; covered < end; covered = vma.end) {
		int err = soft_procmap(covered, &vma);

		if (err)
			return err == ENOENT ? EFAULT : err;
		if (!vma.readable || (writable && !vma.writable))
			return EFAULT;
		if (covered == start) {
			*first = vma;
			if (!vma.shared)
				first->inode = 0;
		} else if (!continues(&last, &vma)) {
			first->inode = 0;
		}
		last = vma;
	}
	return 0;
}

static bool same_file(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static int open_by_path(const char *path, dev_t dev, ino_t ino)
{
	int fd;

	/* Opening a device may have effects. */
	struct stat st;

	if (path[0] != '/' || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && !same_file(fd, dev, ino)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * Returns a duplicate of the file's descriptor, or -1. Another thread may close it meanwhile and
 * open another file.
 */
static int take_descriptor(int fd, dev_t dev, ino_t ino)
{
	int found = same_file(fd, dev, ino) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (found < 0 || same_file(found, dev, ino))
		return found;
	close(found);
	return -1;
}

/* Tries the numbers below the directory's first: a new file took the lowest free one. */
static int search_descriptors(DIR *dir, dev_t dev, ino_t ino)
{
	struct dirent *entry;
	int found = -1;

	for (int fd = dirfd(dir) - 1; found < 0 && fd >= 0 && fd >= dirfd(dir) - LIKELY_DESCRIPTORS; fd--)
		found = take_descriptor(fd, dev, ino);
	while (found < 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			found = take_descriptor(atoi(entry->d_name), dev, ino);
	}
	return found;
}

static int open_by_descriptor(dev_t dev, ino_t ino)
{
	DIR *dir = opendir("/proc/self/fd");
	int found;

	if (!dir)
		return -1;
	/* Other threads may open and close these descriptors. */
	soft_tsan_ignore_begin();
	found = search_descriptors(dir, dev, ino);
	soft_tsan_ignore_end();
	closedir(dir);
	return found;
}

/* Returns the kept descriptor of a file, or -1 if peers could not open it. */
static int file_get(const struct soft_vma *vma)
{
	ino_t ino = (ino_t)vma->inode;
	struct file *file;
	int fd = -1;

	pthread_mutex_lock(&file_lock);
	for (file = files; file; file = file->next)
		if (file->dev == vma->dev && file->ino == ino)
			break;
	if (!file) {
		file = calloc(1, sizeof(*file));
		if (!file)
			goto out;
		file->fd = open_by_path(vma->path, vma->dev, ino);
		if (file->fd < 0)
			file->fd = open_by_descriptor(vma->dev, ino);
		if (file->fd < 0) {
			free(file);
			goto out;
		}
		file->dev = vma->dev;
		file->ino = ino;
		file->next = files;
		files = file;
	}
	file->users++;
	fd = file->fd;
out:
	pthread_mutex_unlock(&file_lock);
	return fd;
}

void soft_backing_put(int fd)
{
	if (fd < 0)
		return;
	pthread_mutex_lock(&file_lock);
	for (struct file **link = &files; *link; link = &(*link)->next) {
		struct file *file = *link;

		if (file->fd != fd)
			continue;
		if (--file->users == 0) {
			*link = file->next;
			close(file->fd);
			free(file);
		}
		break;
	}
	pthread_mutex_unlock(&file_lock);
}

int soft_backing_find(const void *addr, size_t length, unsigned int access, int *fd, uint64_t *offset)
{
	uint64_t start = (uintptr_t)addr;
	struct soft_vma first = { 0 };
	int err;

	*fd = -1;
	*offset = 0;
	if (length == 0)
		return 0;
	if (start + length < start)
		return EINVAL;
	err = walk(start, start + length, access & IBV_ACCESS_LOCAL_WRITE, &first);
	if (err || !(access & SOFT_ACCESS_PEERS) || first.inode == 0)
		return err;
	*fd = file_get(&first);
	*offset = first.offset + (start - first.start);
	return 0;
}

void soft_backing_forked(void)
{
	pthread_mutex_init(&file_lock, NULL);
}

/*
 * The mapping at an address.
 *
 * DESIGN NOTES
 *
 * Since Linux 6.11 an ioctl on /proc/self/maps reports the mapping at one address. Older kernels
 * need the text read up to the address, which is slow. The descriptor refers to the address space
 * of the process that opened it, so a child opens its own.
 */

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
