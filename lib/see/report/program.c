// SPDX-License-Identifier: BSD-2-Clause
/* See program.h. */
#include "see/report/program.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

void program_fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "%s: ", program_name);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	exit(EXIT_FAILURE);
}

void *program_append(void *list, uint32_t *count, uint32_t *capacity, size_t size_bytes)
{
	void *entry;

	if (!grow_array(list, capacity, *count + 1, size_bytes))
		program_fail("out of memory");
	entry = *(char **)list + *count * size_bytes;
	++*count;
	return memset(entry, 0, size_bytes);
}

/* ---- starting ---- */

static bool find_front(const char *self, const char *front, char path[PATH_MAX])
{
	static const char *const folders[] = { "lib/see", INSTALLED_LIBDIR "/oriel/see" };
	char home[PATH_MAX];
	char *slash;

	snprintf(home, sizeof(home), "%s", self);
	for (int i = 0; i < 2 && (slash = strrchr(home, '/')) != NULL; i++)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int bytes = snprintf(path, PATH_MAX, "%s/%s/%s", home, folders[i], front);

		if (bytes < PATH_MAX && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static void preload(const char *path)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (asprintf(&all, "%s%s%s", path, others && *others ? ":" : "", others ? others : "") < 0 ||
	    setenv("LD_PRELOAD", all, 1))
		program_fail("there is no memory for LD_PRELOAD");
	free(all);
}

static void find_self(char self[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);

	if (length < 0)
		program_fail("/proc/self/exe cannot be read: %s", strerror(errno));
	self[length] = '\0';
}

void program_file(const char *library, char path[PATH_MAX])
{
	char self[PATH_MAX];

	find_self(self);
	if (!find_front(self, library, path))
		program_fail("there is no %s in lib/see or " INSTALLED_LIBDIR "/oriel/see beside %s", library, self);
}

void program_preload(const char *front)
{
	char self[PATH_MAX], path[PATH_MAX];

	find_self(self);
	if (find_front(self, front, path))
		preload(path);
}

void program_start(const char *front, const char *variable, char **program)
{
	char self[PATH_MAX], path[PATH_MAX];

	find_self(self);
	program_file(front, path);
	if (setenv(variable, self, 1))
		program_fail("there is no memory for the environment");
	preload(path);
	execvp(program[0], program);
	program_fail("%s cannot be run: %s", program[0], strerror(errno));
}
