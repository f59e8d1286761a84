// SPDX-License-Identifier: BSD-2-Clause
/* See page_exchange.h. */
#include "pages/page_exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "pages/memory_file.h"

/* Since Linux 5.19, and madvise's since 5.14; older headers lack them. */
#define POPULATE_WRITE 23
#define POPULATE_PAGES 1024               /* examined by one call */
#define FEATURES ((1u << 0) | (1u << 12)) /* write protection, and that of shared memory */

static int get_catcher(int *fd)
{
	uint64_t offered;

	return userfault_open(FEATURES, &offered, fd);
}

int page_exchange_try(void)
{
	int fd, error = get_catcher(&fd);

	if (error == 0)
		close(fd);
	return error;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Reads each page, so that it exists. */
static void touch(const struct page_range *pages)
{
	const volatile char *at = (const volatile char *)pages->first;
	size_t step = page_bytes();

	for (size_t i = 0; i < pages->size_bytes; i += step)
		(void)at[i];
}

/* Protects the pages against writing, in a file also those that do not exist. */
static int protect(int fd, const struct page_range *pages, int file)
{
	struct uffdio_register watch = { .range = { pages->first, pages->size_bytes }, .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect stop = { .range = watch.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP };

	if (ioctl(fd, UFFDIO_REGISTER, &watch))
		return errno;
	if (file < 0)
		touch(pages);
	return ioctl(fd, UFFDIO_WRITEPROTECT, &stop) ? errno : 0;
}

static void release(int fd, const struct page_range *pages)
{
	struct uffdio_writeprotect go = { .range = { pages->first, pages->size_bytes } };

	ioctl(fd, UFFDIO_WRITEPROTECT, &go);
}

/*
 * Wakes all threads that wait. A close does not if a child that is being made has the descriptor,
 * too.
 */
static void wake(int fd, const struct page_range *pages)
{
	struct uffdio_range range = { pages->first, pages->size_bytes };

	ioctl(fd, UFFDIO_WAKE, &range);
}

static bool is_zero(const char *bytes, size_t count)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Copies the pages that are not all zeroes to zeroed memory. */
static void copy_private(char *to, const struct page_range *pages)
{
	const char *from = (const char *)pages->first;
	size_t step = page_bytes();

	for (size_t i = 0; i < pages->size_bytes; i += step) {
		if (!is_zero(from + i, step))
			memcpy(to + i, from + i, step);
	}
}

/* Not by mremap(3): UCX replaces it by a function that loses `to`. */
int page_move(void *from, size_t bytes, void *to)
{
	long moved = syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);

	return moved == -1 ? errno : 0;
}

/* Exchanges the pages while nothing may write to them. Closes fd. */
static int exchange(int fd, const struct page_range *pages, int file, void *fresh)
{
	void *at = (void *)pages->first;
	int error = protect(fd, pages, file);

	if (error == 0) {
		if (file < 0)
			copy_private(fresh, pages);
		else
			copy_memory_file(fresh, at, pages->size_bytes, file);
		error = page_move(fresh, pages->size_bytes, at);
	}
	if (error)
		release(fd, pages);
	wake(fd, pages);
	close(fd);
	return error;
}

/*
 * Makes fresh pages for the pages in memory, before any thread has to wait. The copy makes the
 * others, and all before Linux 5.14.
 */
static void populate(const struct page_range *pages, char *fresh)
{
	unsigned char there[POPULATE_PAGES];
	const size_t page = page_bytes(), piece = POPULATE_PAGES * page;

	for (size_t at = 0; at < pages->size_bytes; at += piece) {
		size_t count = (min_size(pages->size_bytes - at, piece) + page - 1) / page;

		if (mincore((void *)(pages->first + at), count * page, there))
			return;
		for (size_t i = 0, end; i < count; i = end + 1) {
			for (end = i; end < count && there[end] & 1;)
				end++;
			if (end > i)
				madvise(fresh + at + i * page, (end - i) * page, POPULATE_WRITE);
		}
	}
}

int page_exchange(const struct page_range *pages, int file, void *fresh)
{
	int fd, error = get_catcher(&fd);
	sigset_t all, before;

	if (error)
		return error;
	populate(pages, fresh);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = exchange(fd, pages, file, fresh);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

#define OWN_FAULTS_ONLY 1 /* since 5.11; older headers lack it */

/* Opens a userfaultfd for all faults that this process may catch; -1 with errno. */
static int open_any(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	return fd < 0 && errno == EPERM ? (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | OWN_FAULTS_ONLY) : fd;
}

int userfault_open(uint64_t features, uint64_t *offered, int *fd)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int error;

	*fd = open_any();
	if (*fd < 0)
		return errno;
	if (ioctl(*fd, UFFDIO_API, &api) == 0) {
		*offered = api.features;
		return 0;
	}
	error = errno;
	close(*fd);
	*fd = -1;
	return error;
}
