// SPDX-License-Identifier: BSD-2-Clause
/* See page_exchange.h. */
#include "pages/page_exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
