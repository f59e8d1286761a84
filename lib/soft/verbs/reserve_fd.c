// SPDX-License-Identifier: BSD-2-Clause
/*
 * A descriptor in reserve.
 *
 * DESIGN NOTES A peer that connects to a process without free descriptors would wait for an answer
 * that nobody can give, because not even the connection can be accepted, and the engine would be
 * told of it again and again. So one descriptor is kept: it is closed, the connection accepted in its
 * place, told why, and closed. What the other side has sent by then is not read, so its socket may
 * report a reset first, or refuse what it still sends; the message is there all the same.
 */
#include "soft/verbs/reserve_fd.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int reserve_fd = -1; /* the engine's */

int soft_reserve_fd_open(void)
{
	reserve_fd = eventfd(0, EFD_CLOEXEC);
	return reserve_fd < 0 ? errno : 0;
}

void soft_reserve_fd_close(void)
{
	close(reserve_fd);
	reserve_fd = -1;
}

void soft_reserve_fd_forked(void)
{
	if (reserve_fd >= 0)
		soft_reserve_fd_close();
}

static int accept_one(int listener)
{
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

SOFT_EXPORT int softverbs_accept(int listener, softverbs_refuse_fn *refuse)
{
	int sock = accept_one(listener), err = errno;

	if (sock >= 0 || !soft_is_shortage(err))
		return sock;
	if (reserve_fd >= 0)
		soft_reserve_fd_close();
	sock = accept_one(listener);
	if (sock >= 0) {
		refuse(sock, err);
		close(sock);
	}
	/* Another thread may have been faster; then the next refusal has to wait until one is free. */
	soft_reserve_fd_open();
	return -1;
}
