// SPDX-License-Identifier: BSD-2-Clause
/* say.c - messages of oriel-run; see say.h. */
#include "launcher/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_verbose;
static void (*sink)(void *arg, const char *line, size_t size);
static void *sink_arg;

void say_set_verbose(bool verbose)
{
	is_verbose = verbose;
}

void say_set_sink(void (*write_line)(void *arg, const char *line, size_t size), void *arg)
{
	sink = write_line;
	sink_arg = arg;
}

/* Removes control characters: texts of ranks must not move the cursor or end the line. */
static void defuse(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = ' ';
}

static void write_to_stderr(const char *line, size_t size)
{
	ssize_t written = write(STDERR_FILENO, line, size);

	(void)written;
}

static void say_args(const char *format, va_list args)
{
	char line[SAY_LINE_MAX_BYTES] = "oriel-run: ";
	size_t head = strlen(line);
	size_t size;

	vsnprintf(line + head, sizeof(line) - head - 1, format, args);
	defuse(line);
	size = strlen(line);
	line[size++] = '\n';
	if (sink)
		sink(sink_arg, line, size);
	else
		write_to_stderr(line, size);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_args(format, args);
	va_end(args);
}

void say_detail(const char *format, ...)
{
	va_list args;

	if (!is_verbose)
		return;
	va_start(args, format);
	say_args(format, args);
	va_end(args);
}
