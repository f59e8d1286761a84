// SPDX-License-Identifier: BSD-2-Clause
/* page_exchange.c - see page_exchange.h. */
#include "base/page_exchange.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/userfault.h"

/* As in linux/userfaultfd.h since 5.19, and for madvise since 5.14; older headers lack them. */
#define POPULATE_WRITE 23
#define FEATURES ((1u << 0) | (1u << 12)) /* protection against writing; that of shared memory */

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

/* Each page is there, if only as one of zeroes. */
static void touch(const struct page_range *pages)
{
	const volatile char *at = (const volatile char *)pages->first;
	size_t step = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < pages->size_bytes; i += step)
		(void)at[i];
}

static int protect(int fd, const struct page_range *pages)
{
	struct uffdio_register watch = { .range = { pages->first, pages->size_bytes }, .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect stop = { .range = watch.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP };

	if (ioctl(fd, UFFDIO_REGISTER, &watch))
		return errno;
	touch(pages);
	return ioctl(fd, UFFDIO_WRITEPROTECT, &stop) ? errno : 0;
}

/* What has been protected and is still there may be written again. */
static void release(int fd, const struct page_range *pages)
{
	struct uffdio_writeprotect go = { .range = { pages->first, pages->size_bytes } };

	ioctl(fd, UFFDIO_WRITEPROTECT, &go);
}

/* All who wait. A close does it too, but not while a child that is being made has the descriptor as well. */
static void wake(int fd, const struct page_range *pages)
{
	struct uffdio_range range = { pages->first, pages->size_bytes };

	ioctl(fd, UFFDIO_WAKE, &range);
}

/* With the pages protected: nothing here may touch them but to read. */
static int exchange(int fd, const struct page_range *pages, void *fresh)
{
	void *at = (void *)pages->first;
	int error = protect(fd, pages);

	if (error == 0) {
		memcpy(fresh, at, pages->size_bytes);
		if (mremap(fresh, pages->size_bytes, pages->size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED)
			error = errno;
	}
	if (error)
		release(fd, pages);
	wake(fd, pages);
	close(fd);
	return error;
}

int page_exchange(const struct page_range *pages, void *fresh)
{
	int fd, error = get_catcher(&fd);
	sigset_t all, before;

	if (error)
		return error;
	/* While nobody has to wait; before Linux 5.14 they come with the copy. */
	madvise(fresh, pages->size_bytes, POPULATE_WRITE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = exchange(fd, pages, fresh);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
