// SPDX-License-Identifier: BSD-2-Clause
/* See memory_file.h. */
#include "pages/memory_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 1024
#define LINE_BYTES 768

/* The files of a version of control groups. */
struct group_kind {
	const char *folder;     /* the root of all groups */
	const char *controller; /* as /proc/self/cgroup names it */
	const char *limit;
	const char *private_name; /* in memory.stat: what cannot be dropped */
	const char *shared_name;
};

static const struct group_kind kinds[] = {
	{ "/sys/fs/cgroup", "", "memory.max", "anon", "shmem" },
	{ "/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", "total_rss", "total_shmem" },
};

static FILE *open_file(const char *root, const char *folder, const char *group, const char *name)
{
	char path[PATH_BYTES];
	int length = snprintf(path, sizeof(path), "%s%s%s/%s", root, folder, group, name);

	return length < (int)sizeof(path) ? fopen(path, "r") : NULL;
}

/* Returns the number behind a name that begins a line ("MemAvailable: 12 kB", "anon 12"), or 0. */
static uint64_t named_number(FILE *file, const char *name)
{
	size_t length = strlen(name);
	char line[LINE_BYTES];
	uint64_t number = 0;

	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, length) == 0 && sscanf(line + length, " %" SCNu64, &number) == 1)
			return number;
	}
	return 0;
}

static void take_least(struct memory_room *room, uint64_t bytes, uint64_t limit_bytes, const char *limit)
{
	if (bytes >= room->bytes)
		return;
	room->bytes = bytes;
	room->limit_bytes = limit_bytes;
	snprintf(room->limit, sizeof(room->limit), "%s", limit);
}

static void look_at_machine(const char *root, enum memory_part part, struct memory_room *room)
{
	FILE *file = open_file(root, "/proc", "", "meminfo");
	uint64_t total_kib, kib;

	if (!file)
		return;
	total_kib = kib = named_number(file, "MemTotal:") + named_number(file, "SwapTotal:");
	if (part == MEMORY_LEFT)
		kib = named_number(file, "MemAvailable:") + named_number(file, "SwapFree:");
	fclose(file);
	if (kib > 0)
		take_least(room, kib * 1024, total_kib * 1024, "the machine's memory and swap space");
}

/* Returns the number that begins the file, or `otherwise`. Closes the file. */
static uint64_t first_number(FILE *file, uint64_t otherwise)
{
	uint64_t number;

	if (!file)
		return otherwise;
	if (fscanf(file, "%" SCNu64, &number) != 1)
		number = otherwise;
	fclose(file);
	return number;
}

/* Returns the group's limit, or UINT64_MAX ("max"). */
static uint64_t group_limit(const char *root, const struct group_kind *kind, const char *group)
{
	return first_number(open_file(root, kind->folder, group, kind->limit), UINT64_MAX);
}

/* Returns the bytes that the group holds and cannot drop, unlike pages of files. */
static uint64_t group_used(const char *root, const struct group_kind *kind, const char *group)
{
	FILE *file = open_file(root, kind->folder, group, "memory.stat");
	uint64_t used = 0;

	if (!file)
		return 0;
	used = named_number(file, kind->private_name) + named_number(file, kind->shared_name);
	fclose(file);
	return used;
}

static void look_at_group(const char *root, const struct group_kind *kind, const char *group, enum memory_part part,
                          struct memory_room *room)
{
	uint64_t limit = group_limit(root, kind, group), used;
	char text[sizeof(room->limit)];

	if (limit == UINT64_MAX)
		return;
	used = part == MEMORY_LEFT ? group_used(root, kind, group) : 0;
	snprintf(text, sizeof(text), "%s of control group %.120s", kind->limit, *group ? group : "/");
	take_least(room, used < limit ? limit - used : 0, limit, text);
}

/*
 * Looks at the group and those around it. In a container the path may begin above what is visible.
 */
static void look_up_from(const char *root, const struct group_kind *kind, char *group, enum memory_part part,
                         struct memory_room *room)
{
	for (char *end = group + strlen(group); end && *group; end = strrchr(group, '/')) {
		*end = '\0';
		look_at_group(root, kind, group, part, room);
	}
}

/* Looks at a line of /proc/self/cgroup: "12:cpu,memory:/a/b", or "0::/a/b" of version 2. */
static void look_at_line(const char *root, char *line, enum memory_part part, struct memory_room *room)
{
	char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return;
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(controllers + 1, kinds[i].controller) == 0)
			look_up_from(root, &kinds[i], group, part, room);
	}
}

void memory_room(const char *root, enum memory_part part, struct memory_room *room)
{
	char line[LINE_BYTES];
	FILE *file;

	*room = (struct memory_room){ .bytes = UINT64_MAX, .limit_bytes = UINT64_MAX, .limit = "nothing known" };
	look_at_machine(root, part, room);
	file = open_file(root, "/proc/self", "", "cgroup");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		look_at_line(root, line, part, room);
	fclose(file);
}

bool memory_is_strict(const char *root)
{
	return first_number(open_file(root, "/proc/sys/vm", "", "overcommit_memory"), 0) == 2;
}
