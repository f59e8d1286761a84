// SPDX-License-Identifier: BSD-2-Clause
/*
 * Paths of the device. Each directory is served whole: a program under oriel-soft sees softverbs in
 * place of the machine's devices.
 */
#include <dlfcn.h>
#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft/base/base.h"
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

/* The host's GUID and addresses, which are written to memory on request. */

enum {
	TEXT_MAX = 64, /* bytes of a line */
};

/* Formats 8 or 16 bytes as the kernel does: "fe80:0000:...". */
static void in_groups(char text[TEXT_MAX], const uint8_t *bytes, int count)
{
	char *at = text;

	for (int i = 0; i < count; i += 2)
		at += sprintf(at, "%02x%02x%c", bytes[i], bytes[i + 1], i + 2 < count ? ':' : '\n');
}

static void write_guid(char text[TEXT_MAX])
{
	__be64 guid = soft_guid();

	in_groups(text, (const uint8_t *)&guid, sizeof(guid));
}

static void write_gid(char text[TEXT_MAX], unsigned int index)
{
	union ibv_gid gids[SOFT_MAX_GIDS] = { 0 };

	soft_gids(gids, SOFT_MAX_GIDS);
	in_groups(text, gids[index].raw, sizeof(gids[index].raw));
}

static bool write_text(char text[TEXT_MAX], const char *file)
{
	unsigned int index;
	int end = 0;

	if (strcmp(file, "node_guid") == 0 || strcmp(file, "sys_image_guid") == 0) {
		write_guid(text);
		return true;
	}
	if (sscanf(file, "ports/1/gids/%u%n", &index, &end) == 1 && !file[end] && index < SOFT_MAX_GIDS) {
		write_gid(text, index);
		return true;
	}
	return false;
}

int nodes_text(const char *path, int flags)
{
	const char *device = strstr(path, "/infiniband/soft0/");
	char text[TEXT_MAX];
	int fd;

	if (!device || (flags & (O_ACCMODE | O_PATH | O_DIRECTORY)) != O_RDONLY)
		return -1;
	if (!write_text(text, device + strlen("/infiniband/soft0/")))
		return -1;
	fd = memfd_create("softverbs", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	if (fd < 0)
		return -1;
	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text) && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	close(fd);
	return -1;
}
