// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sockets by which processes of one user find each other.
 *
 * DESIGN NOTES
 *
 * Names are abstract, so nothing is left behind. They contain the user's id, but any user can take
 * them. A process that finds all taken listens in a directory that only its user can enter
 * (directory.c); the number tells which of the two it is. Both sides of a connection check each
 * other's user.
 */
#include "soft/meet/meet.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Fills *addr; returns its length. */
static socklen_t abstract(struct sockaddr_un *addr, struct softverbs_name name)
{
	int n;

	addr->sun_family = AF_UNIX;
	addr->sun_path[0] = '\0';
	n = snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1, "softverbs-%u-%s-%u-%s", geteuid(), name.kind,
	             name.number, name.where);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int softverbs_bind(int sock, struct softverbs_name name)
{
	struct sockaddr_un addr;

	return bind(sock, (struct sockaddr *)&addr, abstract(&addr, name)) == 0 ? 0 : errno;
}

int softverbs_connect(int sock, struct softverbs_name name)
{
	struct sockaddr_un addr;
	pid_t pid;

	if (connect(sock, (struct sockaddr *)&addr, abstract(&addr, name)) != 0)
		return errno;
	return softverbs_same_user(sock, &pid) ? 0 : ESTALE;
}

static void file_of(char *file, struct softverbs_name name)
{
	snprintf(file, SOFT_FILE_BYTES, "%s-%u-%s", name.kind, name.number, name.where);
}

int softverbs_bind_file(int sock, struct softverbs_name name)
{
	char file[SOFT_FILE_BYTES];

	file_of(file, name);
	return soft_directory_bind(sock, file);
}

int softverbs_connect_file(int sock, struct softverbs_name name)
{
	char file[SOFT_FILE_BYTES];
	pid_t pid;
	int err;

	file_of(file, name);
	err = soft_directory_connect(sock, file);
	if (err)
		return err == ENOENT ? ECONNREFUSED : err;
	return softverbs_same_user(sock, &pid) ? 0 : ESTALE;
}
