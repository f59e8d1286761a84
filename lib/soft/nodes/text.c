// SPDX-License-Identifier: BSD-2-Clause
/* The host's GUID and addresses, which are written to memory on request. */
#include <endian.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft/base/gid.h"
#include "soft/base/limits.h"
#include "soft/nodes/nodes.h"

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
