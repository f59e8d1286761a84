// SPDX-License-Identifier: BSD-2-Clause
/* Paths under which the kernel would show the device, and where files stand for them. */
#ifndef SOFT_NODES_PATHS_H
#define SOFT_NODES_PATHS_H

#include <stdbool.h>

enum {
	NODES_PATH_MAX = 1024, /* bytes */
};

/* The file that stands for `path`, made in `room`, or `path` where it is none of the device's. */
const char *nodes_path(const char *path, char room[NODES_PATH_MAX]);

/* Take the directory of our files off an answer, in place: a program gets the names it knows. */
char *nodes_answer(char *path);

#endif
