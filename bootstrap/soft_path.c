// SPDX-License-Identifier: BSD-2-Clause
/* soft_path.c - see soft_path.h. */
#include "soft_path.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVICES_FOLDER "/sys/class/infiniband"

bool machine_has_device(void)
{
	DIR *folder = opendir(DEVICES_FOLDER);
	bool found = false;

	if (!folder)
		return false;
	for (struct dirent *entry = readdir(folder); entry && !found; entry = readdir(folder))
		found = entry->d_name[0] != '.';
	closedir(folder);
	return found;
}

/* The folder that holds the program's own folder, as absolute path. */
static bool own_prefix(char prefix[PATH_MAX])
{
	ssize_t size = readlink("/proc/self/exe", prefix, PATH_MAX - 1);
	char *slash;

	if (size <= 0)
		return false;
	prefix[size] = '\0';
	for (int level = 0; level < 2; level++) {
		slash = strrchr(prefix, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
	return true;
}

bool soft_path(char path[PATH_MAX])
{
	static const char *const places[] = { "lib/soft", "lib/oriel/soft" };
	char prefix[PATH_MAX], library[PATH_MAX + 32];

	if (!own_prefix(prefix))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(path, PATH_MAX, "%s/%s", prefix, places[i]) >= PATH_MAX)
			continue;
		snprintf(library, sizeof(library), "%s/libibverbs.so.1", path);
		if (access(library, R_OK) == 0)
			return true;
	}
	path[0] = '\0';
	return false;
}
