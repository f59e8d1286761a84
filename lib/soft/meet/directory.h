// SPDX-License-Identifier: BSD-2-Clause
/* A directory of the user's, for sockets whose names nobody else can take. See directory.c. */
#ifndef SOFT_DIRECTORY_H
#define SOFT_DIRECTORY_H

enum { SOFT_FILE_BYTES = 72 };

/*
 * Binds a socket to a file, in a directory that is made if there is none. Returns 0 or an errno
 * value.
 */
int soft_directory_bind(int sock, const char *file);
/* Connects to a file. Returns 0 or an errno value: ENOENT or ECONNREFUSED if nobody listens. */
int soft_directory_connect(int sock, const char *file);

#endif
