// SPDX-License-Identifier: BSD-2-Clause
/* See start.h. The environment of the ranks says what is wanted, and names this program. */
#include "see/report/start.h"

#include <stdlib.h>
#include <string.h>

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

	return is_in(formats ? formats : START_FORMATS, format);
}

const char *start_timeline(void)
{
	const char *file = getenv(TIMELINE_VARIABLE);

	return file && *file ? file : NULL;
}

static bool is_format(const char *text, size_t length)
{
	static const char *const formats[] = { "text", "json", "svg" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (strlen(formats[i]) == length && strncmp(text, formats[i], length) == 0)
			return true;
	}
	return false;
}

static void check_formats(const char *formats)
{
	const char *next;

	for (const char *at = formats; at; at = next) {
		size_t length = strcspn(at, ",");

		next = at[length] ? at + length + 1 : NULL;
		if (!is_format(at, length))
			program_fail("there is no format %.*s: --profile=text, json, svg or several with commas", (int)length, at);
	}
}

void start_note(const char *formats, const char *timeline)
{
	if (formats)
		check_formats(formats);
	if (setenv(FORMATS_VARIABLE, formats ? formats : NO_FORMATS, 1) ||
	    (timeline && setenv(TIMELINE_VARIABLE, timeline, 1)))
		program_fail("there is no memory for the environment");
}

void start(char **program)
{
	program_start("liboriel-see.so", PROGRAM_VARIABLE, program);
}
