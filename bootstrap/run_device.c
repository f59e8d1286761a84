// SPDX-License-Identifier: BSD-2-Clause
/* run_device.c - see run_device.h. */
#include "run_device.h"

#include "boot_clients.h"
#include "run_options.h"
#include "run_say.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES_FOLDER "/sys/class/infiniband"
#define PATH_VARIABLE "LD_LIBRARY_PATH"

/* Whether the machine has any RDMA device; which of them is of use the ranks find out. */
static bool machine_has_device(void)
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

/* The folder that holds oriel-run's own folder, as absolute path. */
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

static bool find_soft(char path[PATH_MAX])
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

static bool soft_wanted(const struct options *options)
{
	return options->device && strcmp(options->device, DEVICE_SOFT) == 0;
}

int device_choose(const struct options *options, struct device_choice *choice)
{
	choice->soft_path[0] = '\0';
	if (!soft_wanted(options) && (options->device || machine_has_device())) {
		say_detail("device: %s", options->device ? options->device : "the machine's own");
		return 0;
	}
	if (find_soft(choice->soft_path)) {
		say_detail("device: softverbs, from %s%s", choice->soft_path,
		           soft_wanted(options) ? "" : " (this machine has no RDMA device)");
		return 0;
	}
	if (!soft_wanted(options))
		return 0; /* a program that needs no device runs all the same; oriel_init tells the others */
	say("--device soft: no libibverbs.so.1 in lib/soft or lib/oriel/soft beside %s; `make soft` builds it",
	    "oriel-run");
	return -1;
}

static void put_in_front(const char *path)
{
	const char *old = getenv(PATH_VARIABLE);
	size_t bytes = strlen(path) + (old ? strlen(old) : 0) + 2;
	char *both = malloc(bytes);

	if (!both)
		return; /* the rank then tells that it has no device */
	snprintf(both, bytes, "%s%s%s", path, old && *old ? ":" : "", old ? old : "");
	setenv(PATH_VARIABLE, both, 1);
	free(both);
}

void device_set_environment(const struct options *options, const struct device_choice *choice)
{
	if (*choice->soft_path)
		put_in_front(choice->soft_path);
	else if (options->device)
		setenv(BOOT_ENV_DEVICE, options->device, 1);
}
