// SPDX-License-Identifier: BSD-2-Clause
/* See start.h. The environment of the ranks says what is wanted, and names this program. */
#include "see/report/start.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "see/report/profile.h"

#define FORMATS_VARIABLE "ORIEL_PROFILE"
#define TIMELINE_VARIABLE "ORIEL_TRACE"
#define PROGRAM_VARIABLE "ORIEL_SEE"
#define NO_FORMATS "none"

static bool is_in(const char *list, const char *format)
{
	size_t length = strlen(format);

	for (; list; list = strchr(list, ','), list = list ? list + 1 : NULL) {
		if (strncmp(list, format, length) == 0 && (list[length] == ',' || list[length] == '\0'))
			return true;
	}
	return false;
}

bool start_wants(const char *format)
{
	const char *formats = getenv(FORMATS_VARIABLE);

	return !formats || is_in(formats, format);
}

const char *start_timeline(void)
{
	const char *file = getenv(TIMELINE_VARIABLE);

	return file && *file ? file : NULL;
}

static void check_formats(const char *formats)
{
	const char *next;

	for (const char *at = formats; at; at = next) {
		size_t length = strcspn(at, ",");

		next = at[length] ? at + length + 1 : NULL;
		if ((length != 4 || strncmp(at, "text", 4) != 0) && (length != 4 || strncmp(at, "json", 4) != 0))
			see_fail("there is no format %.*s: --profile=text, json or both", (int)length, at);
	}
}

void start_note(const char *formats, const char *timeline)
{
	if (formats)
		check_formats(formats);
	if (setenv(FORMATS_VARIABLE, formats ? formats : NO_FORMATS, 1) ||
	    (timeline && setenv(TIMELINE_VARIABLE, timeline, 1)))
		see_fail("there is no memory for the environment");
}

/* Finds the front, beside the folder of this program or where it is installed. */
static void find_front(const char *self, char front[PATH_MAX])
{
	static const char *const folders[] = { "lib/see", INSTALLED_LIBDIR "/oriel/see" };
	char home[PATH_MAX];
	char *slash;

	snprintf(home, sizeof(home), "%s", self);
	for (int i = 0; i < 2 && (slash = strrchr(home, '/')) != NULL; i++)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int bytes = snprintf(front, PATH_MAX, "%s/%s/liboriel-see.so", home, folders[i]);

		if (bytes < PATH_MAX && access(front, F_OK) == 0)
			return;
	}
	see_fail("there is no liboriel-see.so in %s/lib/see or %s/" INSTALLED_LIBDIR "/oriel/see", home, home);
}

static void preload(const char *front)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (asprintf(&all, "%s%s%s", front, others && *others ? ":" : "", others ? others : "") < 0 ||
	    setenv("LD_PRELOAD", all, 1))
		see_fail("there is no memory for LD_PRELOAD");
	free(all);
}

void start(char **program)
{
	char self[PATH_MAX], front[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		see_fail("/proc/self/exe cannot be read: %s", strerror(errno));
	self[length] = '\0';
	find_front(self, front);
	if (setenv(PROGRAM_VARIABLE, self, 1))
		see_fail("there is no memory for the environment");
	preload(front);
	execvp(program[0], program);
	see_fail("%s cannot be run: %s", program[0], strerror(errno));
}
