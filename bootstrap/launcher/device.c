// SPDX-License-Identifier: BSD-2-Clause
/* device.c - see device.h. */
#include "launcher/device.h"

#include "launcher/options.h"
#include "launcher/say.h"
#include "soft_path.h"
#include "wire/environment.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_VARIABLE "LD_LIBRARY_PATH"

static bool soft_wanted(const struct options *options)
{
	return options->device && strcmp(options->device, DEVICE_SOFT) == 0;
}

/* Whether a library that is loaded before all others stands in softverbs' place. */
static bool hides_softverbs(const char *library, const char *soft_folder)
{
	const char *slash = strrchr(library, '/'), *name = slash ? slash + 1 : library;
	char ours[PATH_MAX], resolved[PATH_MAX];

	if (strncmp(name, "libibverbs.so", 13) != 0 && strncmp(name, "librdmacm.so", 12) != 0)
		return false;
	return !realpath(soft_folder, ours) || !realpath(library, resolved) || strncmp(resolved, ours, strlen(ours)) != 0;
}

static void warn_of_preloads(const char *soft_folder)
{
	const char *preloads = getenv("LD_PRELOAD");
	char *copy = preloads ? strdup(preloads) : NULL, *rest = copy;

	for (char *library = copy ? strtok_r(copy, ": ", &rest) : NULL; library; library = strtok_r(NULL, ": ", &rest)) {
		if (hides_softverbs(library, soft_folder))
			say("LD_PRELOAD loads %s before softverbs, which the ranks will not see: take it out", library);
	}
	free(copy);
}

int device_choose(const struct options *options, struct device_choice *choice)
{
	choice->soft_path[0] = '\0';
	if (!soft_wanted(options) && (options->device || machine_has_device())) {
		say_detail("device: %s", options->device ? options->device : "the machine's own");
		return 0;
	}
	if (soft_path(choice->soft_path)) {
		say_detail("device: softverbs, from %s%s", choice->soft_path,
		           soft_wanted(options) ? "" : " (this machine has no RDMA device)");
		warn_of_preloads(choice->soft_path);
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
