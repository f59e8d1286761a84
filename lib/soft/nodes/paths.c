// SPDX-License-Identifier: BSD-2-Clause
/*
 * Paths of the device. Each directory is served whole: a program under oriel-soft sees softverbs in
 * place of the machine's devices.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/nodes/nodes.h"

/* Prefixes: each serves infiniband_verbs and infiniband_mad too. */
static const char *const served[] = { "/dev/infiniband", "/sys/class/infiniband", "/sys/devices/virtual/infiniband" };

/* Directory of our files; empty if unknown. */
static char root[NODES_PATH_MAX];
static pthread_once_t root_once = PTHREAD_ONCE_INIT;

/* Sets `root` to "nodes" beside this library. */
static void find_root(void)
{
	Dl_info self;
	const char *end;

	if (!dladdr(served, &self) || !self.dli_fname)
		return;
	end = strrchr(self.dli_fname, '/');
	if (!end)
		return;
	if (snprintf(root, sizeof(root), "%.*s/nodes", (int)(end - self.dli_fname), self.dli_fname) >= (int)sizeof(root))
		root[0] = '\0';
}

static bool is_served(const char *path)
{
	if (path[0] != '/' || (path[1] != 'd' && path[1] != 's'))
		return false;
	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		if (strncmp(path, served[i], strlen(served[i])) == 0)
			return true;
	return false;
}

const char *nodes_path(const char *path, char room[NODES_PATH_MAX])
{
	if (!path || !is_served(path))
		return path;
	pthread_once(&root_once, find_root);
	if (!root[0] || snprintf(room, NODES_PATH_MAX, "%s%s", root, path) >= NODES_PATH_MAX)
		return path;
	return room;
}

char *nodes_answer(char *path)
{
	size_t length;

	pthread_once(&root_once, find_root);
	length = strlen(root);
	if (path && length > 0 && strncmp(path, root, length) == 0 && path[length] == '/')
		memmove(path, path + length, strlen(path + length) + 1);
	return path;
}
