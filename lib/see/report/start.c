// SPDX-License-Identifier: BSD-2-Clause
/* See start.h. The environment of the ranks says what is wanted, and names this program. */
#include "see/report/start.h"

#include <stdlib.h>
#include <string.h>

#include "see/report/formats.h"
#include "see/report/program.h"

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

	return is_in(formats ? formats : FORMATS_DEFAULT, format);
}

const char *start_timeline(void)
{
	const char *file = getenv(TIMELINE_VARIABLE);

	return file && *file ? file : NULL;
}

void start_note(const char *formats, const char *timeline)
{
	int length;
	const char *unknown = formats ? formats_unknown(formats, &length) : NULL;

	if (unknown)
		program_fail("there is no format %.*s: " FORMATS_USAGE, length, unknown);
	if (setenv(FORMATS_VARIABLE, formats ? formats : NO_FORMATS, 1) ||
	    (timeline && setenv(TIMELINE_VARIABLE, timeline, 1)))
		program_fail("there is no memory for the environment");
}

void start(char **program)
{
	program_start("liboriel-see.so", PROGRAM_VARIABLE, program);
}
