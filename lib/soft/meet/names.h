// SPDX-License-Identifier: BSD-2-Clause
/* Sockets by which processes of one user find each other. See names.c. */
#ifndef SOFT_NAMES_H
#define SOFT_NAMES_H

#include "soft/base/export.h"

/* A socket's name: what it is for, a number, and an address or "". */
struct softverbs_name {
	const char *kind;
	unsigned int number;
	const char *where;
};

/* Gives a socket an abstract name. Returns 0 or an errno value: EADDRINUSE if it is taken. */
SOFT_EXPORT int softverbs_bind(int sock, struct softverbs_name name);
/*
 * Gives a socket a file in the user's directory as its name. Returns 0 or an errno value:
 * EADDRINUSE if this user has one of that name, ENOENT if there is no place for a directory.
 */
SOFT_EXPORT int softverbs_bind_file(int sock, struct softverbs_name name);
/*
 * Connects to the process of this user that listens under an abstract name. Returns 0 or an errno
 * value: ECONNREFUSED if there is none, ESTALE if another user's has the name; the socket is then
 * of no use.
 */
SOFT_EXPORT int softverbs_connect(int sock, struct softverbs_name name);
/* The same for a file. */
SOFT_EXPORT int softverbs_connect_file(int sock, struct softverbs_name name);

#endif
