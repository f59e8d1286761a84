// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of abstract sockets. They live as long as the socket, so nothing can be stale, and carry
 * the user's id: processes of different users do not meet. (Whoever connects still checks the other
 * side's credentials: a name can be taken by anybody.)
 */
#ifndef SOFT_NAMES_H
#define SOFT_NAMES_H

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Fill *addr; returns its length. */
static inline socklen_t softverbs_name(struct sockaddr_un *addr, unsigned int uid, const char *kind,
                                       unsigned int number, const char *where)
{
	int n;

	addr->sun_family = AF_UNIX;
	addr->sun_path[0] = '\0';
	n = snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1, "softverbs-%u-%s-%u-%s", uid, kind, number, where);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

#endif
