// SPDX-License-Identifier: BSD-2-Clause
/* How processes of one user find each other, and which peers they let in. */
#ifndef SOFT_MEET_H
#define SOFT_MEET_H

#include <stdbool.h>
#include <sys/types.h>

#include "soft/base/base.h"

/* user.c */

/* A socket's name: its purpose, a number, and an address or "". */
struct softverbs_name {
	const char *kind;
	unsigned int number;
	const char *where;
};

/* Gives a socket an abstract name. Returns 0 or an errno value: EADDRINUSE if it is taken. */
SOFT_EXPORT int softverbs_bind(int sock, struct softverbs_name name);
/*
 * Gives a socket a file in the user's directory as its name. Returns 0 or an errno value:
 * EADDRINUSE if it is taken, ENOENT without a place for a directory.
 */
SOFT_EXPORT int softverbs_bind_file(int sock, struct softverbs_name name);
/*
 * Connects to this user's process that listens under an abstract name. Returns 0 or an errno value:
 * ECONNREFUSED if there is none, ESTALE if another user's has the name.
 */
SOFT_EXPORT int softverbs_connect(int sock, struct softverbs_name name);
/* Does as softverbs_connect, to a file. */
SOFT_EXPORT int softverbs_connect_file(int sock, struct softverbs_name name);

/* Sockets in a directory of the user: directory.c. */

enum { SOFT_FILE_BYTES = 72 };

/* Makes the directory if there is none. Returns 0 or an errno value. */
int soft_directory_bind(int sock, const char *file);
/* Returns 0 or an errno value: ENOENT or ECONNREFUSED if no process listens. */
int soft_directory_connect(int sock, const char *file);

/* user.c */

/*
 * Returns whether the other end of a socket is this user's, and sets its process's number; false if
 * that cannot be found out.
 */
SOFT_EXPORT bool softverbs_same_user(int sock, pid_t *pid);
/* Returns whether /proc shows processes by the numbers that this process knows them by. */
bool soft_proc_is_own(void);

#endif
