// SPDX-License-Identifier: BSD-2-Clause
/* shortage.c - see shortage.h. */
#include "pages/shortage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "oriel.h"
#include "pages/memory_file.h"

#define NO_LIMIT (~0ull)
#define PATH_BYTES 1024

bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS || error == EFBIG;
}

int shortage_code(int error)
{
	return error == EMFILE || error == ENFILE ? ORIEL_ERR_LIMIT : ORIEL_ERR_MEMORY;
}

static unsigned long long limit_of(unsigned resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return NO_LIMIT;
	return (unsigned long long)limit.rlim_cur;
}

/* Returns the bytes of the process's address space; 0: unknown. */
static unsigned long long address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static void room_text(int error, char *text, size_t text_bytes)
{
	struct memory_room room;

	memory_room("", MEMORY_LEFT, &room);
	if (room.bytes == UINT64_MAX)
		snprintf(text, text_bytes, "%s: no limit of this process is known to be met; free memory, and call again",
		         strerror(error));
	else
		snprintf(text, text_bytes, "%s: %llu bytes can be had of the %llu that are %s; free memory, and call again",
		         strerror(error), (unsigned long long)room.bytes, (unsigned long long)room.limit_bytes, room.limit);
}

/* A limit of the process is met before the machine is full. */
static void memory_text(int error, bool pinned, char *text, size_t text_bytes)
{
	if (pinned && limit_of(RLIMIT_MEMLOCK) != NO_LIMIT)
		snprintf(text, text_bytes,
		         "%s: the locked-memory limit is %llu bytes; free memory, or raise it (ulimit -l), and call again",
		         strerror(error), limit_of(RLIMIT_MEMLOCK));
	else if (limit_of(RLIMIT_AS) != NO_LIMIT)
		snprintf(text, text_bytes,
		         "%s: the address space may have %llu bytes and has %llu; raise that limit (ulimit -v), and call again",
		         strerror(error), limit_of(RLIMIT_AS), address_space());
	else if (limit_of(RLIMIT_DATA) != NO_LIMIT)
		snprintf(text, text_bytes,
		         "%s: the process's data may have %llu bytes; raise that limit (ulimit -d), and call again",
		         strerror(error), limit_of(RLIMIT_DATA));
	else
		room_text(error, text, text_bytes);
}

void shortage_text(int error, bool pinned, char *text, size_t text_bytes)
{
	if (error == EMFILE)
		snprintf(text, text_bytes,
		         "%s: a connection needs up to 8 descriptors, and this process may have %llu; close some, or raise the "
		         "limit (ulimit -n), and call again",
		         strerror(error), limit_of(RLIMIT_NOFILE));
	else if (error == ENFILE)
		snprintf(text, text_bytes, "%s: the whole system has no more descriptors; raise /proc/sys/fs/file-max",
		         strerror(error));
	else if (error == EFBIG)
		snprintf(
			text, text_bytes,
			"%s: memory that ranks share counts as a file, and a file of this process may have %llu bytes; raise the "
			"limit (ulimit -f), and call again",
			strerror(error), limit_of(RLIMIT_FSIZE));
	else
		memory_text(error, pinned, text, text_bytes);
}

/* Reads a number of a control group; false: there is none ("max"). */
static bool group_number(const char *folder, const char *group, const char *name, unsigned long long *number)
{
	char path[PATH_BYTES];
	int length = snprintf(path, sizeof(path), "%s%s/%s", folder, group, name);
	FILE *file = length < (int)sizeof(path) ? fopen(path, "re") : NULL;
	bool found;

	if (!file)
		return false;
	found = fscanf(file, "%llu", number) == 1;
	fclose(file);
	return found;
}

/*
 * Returns the limit of processes and threads that the group, or one around it, has met; or
 * NO_LIMIT.
 */
static unsigned long long group_met(const char *folder, char *group)
{
	unsigned long long most, count;

	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		*end = '\0';
		if (group_number(folder, group, "pids.max", &most) && group_number(folder, group, "pids.current", &count) &&
		    count >= most)
			return most;
	}
	return NO_LIMIT;
}

/* Looks at a line of /proc/self/cgroup: "12:pids:/a/b", or "0::/a/b" of version 2. */
static unsigned long long line_met(char *line)
{
	char *controller = strchr(line, ':'), *group = controller ? strchr(controller + 1, ':') : NULL;

	if (!group)
		return NO_LIMIT;
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	if (strcmp(controller, ":pids") == 0)
		return group_met("/sys/fs/cgroup/pids", group);
	return controller[1] ? NO_LIMIT : group_met("/sys/fs/cgroup", group);
}

static unsigned long long groups_met(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	unsigned long long met = NO_LIMIT;
	char line[PATH_BYTES];

	if (!file)
		return NO_LIMIT;
	while (met == NO_LIMIT && fgets(line, sizeof(line), file))
		met = line_met(line);
	fclose(file);
	return met;
}

void thread_text(int error, char *text, size_t text_bytes)
{
	unsigned long long group = groups_met();

	if (error != EAGAIN)
		snprintf(text, text_bytes,
		         "%s: the system forbids threads, as an old seccomp profile of a container does (clone3)",
		         strerror(error));
	else if (group != NO_LIMIT)
		snprintf(text, text_bytes, "%s: the control group may have %llu processes and threads, and has them (pids.max)",
		         strerror(error), group);
	else if (limit_of(RLIMIT_NPROC) != NO_LIMIT)
		snprintf(text, text_bytes, "%s: this user may have %llu processes and threads (ulimit -u)", strerror(error),
		         limit_of(RLIMIT_NPROC));
	else
		snprintf(text, text_bytes, "%s: the system has no more threads; raise /proc/sys/kernel/threads-max",
		         strerror(error));
}
