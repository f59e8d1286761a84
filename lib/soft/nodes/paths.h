// SPDX-License-Identifier: BSD-2-Clause
/* The device's paths in /dev and /sys, and the files in their place. */
#ifndef SOFT_NODES_PATHS_H
#define SOFT_NODES_PATHS_H

#include <stdbool.h>

enum {
	NODES_PATH_MAX = 1024, /* bytes */
};

/* Returns the file in place of `path`, written to `room`, or `path` if it is not the device's. */
const char *nodes_path(const char *path, char room[NODES_PATH_MAX]);

/* Removes our directory from a result, in place, so that a program sees the names it knows. */
char *nodes_answer(char *path);

#endif
