// SPDX-License-Identifier: BSD-2-Clause
/* See libraries.h. */
#include "mpi/starter/libraries.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_FILE "/etc/ld.so.cache"

/* The defaults of glibc; libraries of other architectures are skipped. */
static const char default_folders[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"
									  "/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";

static bool is_listed(const struct libraries *libraries, const char *name)
{
	for (size_t i = 1; i < libraries->count; i++) {
		if (strcmp(libraries->list[i].name, name) == 0)
			return true;
	}
	return false;
}

static void add(struct libraries *libraries, const char *name, const struct library *loader)
{
	if (libraries->count == LIBRARIES_MAX || is_listed(libraries, name))
		return;
	libraries->list[libraries->count++] = (struct library){ .name = name, .loader = loader };
}

/* Returns a file's folder, or NULL. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strndup(path, slash ? (size_t)(slash - path) : 0);
}

static bool open_at(struct library *library, const char *path)
{
	if (image_open(&library->image, path) != IMAGE_DYNAMIC)
		return false;
	library->folder = folder_of(path);
	if (!library->folder)
		image_close(&library->image);
	return library->folder;
}

/* Returns the length of $ORIGIN at the folder's beginning, or 0. */
static size_t origin_bytes(const char *folder, size_t length)
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (length >= strlen(words[i]) && strncmp(folder, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	}
	return 0;
}

/* Tries a folder; an empty name is the working directory. */
static bool open_in_folder(struct library *library, const char *folder, size_t length, const char *origin)
{
	size_t skipped = origin_bytes(folder, length);
	const char *dot = length == 0 ? "." : "";
	char path[PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s%s%.*s/%s", skipped && origin ? origin : "", dot,
	                     (int)(length - skipped), folder + skipped, library->name);

	return bytes < (int)sizeof(path) && open_at(library, path);
}

/* Tries folders between colons or semicolons; NULL: none. */
static bool open_in_folders(struct library *library, const char *folders, const char *origin)
{
	while (folders) {
		size_t length = strcspn(folders, ":;");

		if (open_in_folder(library, folders, length, origin))
			return true;
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return false;
}

static bool open_in_rpath(struct library *library)
{
	if (image_text(&library->loader->image, DT_RUNPATH))
		return false;
	for (const struct library *loader = library->loader; loader; loader = loader->loader) {
		const char *folders = image_text(&loader->image, DT_RPATH);

		if (!image_text(&loader->image, DT_RUNPATH) && open_in_folders(library, folders, loader->folder))
			return true;
	}
	return false;
}

static bool open_in_cache(struct library *library, const struct cache *cache)
{
	size_t at = 0;

	for (const char *path = cache_find(cache, library->name, &at); path; path = cache_find(cache, library->name, &at)) {
		if (open_at(library, path))
			return true;
	}
	return false;
}

static bool open_by_name(struct library *library, const struct cache *cache)
{
	const struct library *loader = library->loader;
	const char *variable = getenv("LD_LIBRARY_PATH");

	return open_in_rpath(library) || (variable && *variable && open_in_folders(library, variable, loader->folder)) ||
	       open_in_folders(library, image_text(&loader->image, DT_RUNPATH), loader->folder) ||
	       open_in_cache(library, cache) || open_in_folders(library, default_folders, "");
}

/* Lists what the library needs, if it is found. The program, which has no loader, is a path. */
static void open_library(struct libraries *libraries, struct library *library)
{
	const bool is_path = !library->loader || strchr(library->name, '/');
	const char *name;
	size_t at = 0;

	if (is_path ? !open_at(library, library->name) : !open_by_name(library, &libraries->cache))
		return;
	while ((name = image_needed(&library->image, &at)) != NULL)
		add(libraries, name, library);
}

static void add_preloaded(struct libraries *libraries)
{
	char *rest = libraries->preloaded, *name;

	while (rest && (name = strsep(&rest, " :")) != NULL) {
		if (*name)
			add(libraries, name, &libraries->list[0]);
	}
}

int libraries_open(struct libraries *libraries, const char *path)
{
	const char *preloaded = getenv("LD_PRELOAD");

	*libraries = (struct libraries){ .list = calloc(LIBRARIES_MAX, sizeof(*libraries->list)) };
	if (!libraries->list)
		return -1;
	libraries->preloaded = preloaded ? strdup(preloaded) : NULL;
	libraries->cache = cache_open(CACHE_FILE);
	libraries->program = realpath(path, NULL);
	libraries->list[libraries->count++].name = libraries->program ? libraries->program : path;
	libraries->returned = 1;
	add_preloaded(libraries);
	open_library(libraries, &libraries->list[libraries->opened++]);
	return 0;
}

const char *libraries_next(struct libraries *libraries)
{
	while (libraries->returned == libraries->count && libraries->opened < libraries->count)
		open_library(libraries, &libraries->list[libraries->opened++]);
	return libraries->returned < libraries->count ? libraries->list[libraries->returned++].name : NULL;
}

void libraries_close(struct libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++) {
		image_close(&libraries->list[i].image);
		free(libraries->list[i].folder);
	}
	free(libraries->program);
	free(libraries->preloaded);
	free(libraries->list);
}

int libraries_version_of(const char *path, const char *name)
{
	struct libraries libraries;
	const char *library, *found = NULL;
	int version = -1;

	if (libraries_open(&libraries, path))
		return -1;
	while (!found && (library = libraries_next(&libraries)) != NULL)
		found = strstr(library, name);
	if (found)
		version = atoi(found + strlen(name));
	libraries_close(&libraries);
	return version;
}
