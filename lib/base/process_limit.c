// SPDX-License-Identifier: BSD-2-Clause
/* See process_limit.h. */
#include "base/process_limit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define NO_LIMIT (~0ull)
#define PATH_BYTES 1024

/* Reads the number in a file of a control group; false: there is none ("max"). */
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
 * Returns the limit of the group, or of one around it, that has as many processes and threads as it
 * may; or NO_LIMIT.
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

/* Looks at a line of /proc/self/cgroup: "12:pids:/a/b", or "0::/a/b" of the second version. */
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

/* Returns the limit of this user's processes and threads, or NO_LIMIT. */
static unsigned long long user_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NPROC, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return NO_LIMIT;
	return (unsigned long long)limit.rlim_cur;
}

void process_limit_text(int error, char *text, size_t text_bytes)
{
	unsigned long long group = groups_met(), user = user_limit();

	if (error != EAGAIN)
		snprintf(text, text_bytes, "%s", strerror(error));
	else if (group != NO_LIMIT)
		snprintf(text, text_bytes, "%s: the control group may have %llu processes and threads, and has them (pids.max)",
		         strerror(error), group);
	else if (user != NO_LIMIT)
		snprintf(text, text_bytes, "%s: this user may have %llu processes and threads (ulimit -u)", strerror(error),
		         user);
	else
		snprintf(text, text_bytes, "%s: the system has no more threads; raise /proc/sys/kernel/threads-max",
		         strerror(error));
}
