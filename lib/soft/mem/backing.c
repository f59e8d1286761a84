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
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soft/base/limits.h"
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
