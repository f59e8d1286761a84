// SPDX-License-Identifier: BSD-2-Clause
/*
 * A reserve descriptor.
 *
 * DESIGN NOTES
 *
 * A process without free descriptors cannot accept a peer's connection: the peer would wait for
 * ever. So the engine keeps one descriptor. It closes it, accepts the connection in its place,
 * sends the reason, and closes the connection. As data of the peer stay unread, its socket may
 * first report a reset; the reason can still be read.
 */
#include "soft/peer/reserve_fd.h"

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
	/* Another thread may take it first; the next refusal then waits for a free one. */
	soft_reserve_fd_open();
	return -1;
}
