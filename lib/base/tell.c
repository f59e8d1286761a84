// SPDX-License-Identifier: BSD-2-Clause
/* See settings.h. */
#include "base/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024

static int wanted; /* 0, 1 or 2; changed atomically */

int tell_open(void)
{
	static const char *const words[] = { "0", "1", "2", NULL };
	int value = 0, rc = setting_word("ORIEL_VERBOSE", words, &value);

	__atomic_store_n(&wanted, rc == 0 ? value : 0, __ATOMIC_RELAXED);
	return rc;
}

bool tell_has_routes(void)
{
	return __atomic_load_n(&wanted, __ATOMIC_RELAXED) > 1;
}

/* Writes the line in one piece, since ranks share the stream. */
static void write_line(const char *who, int number, const char *format, va_list args)
{
	char line[LINE_BYTES];
	size_t used;
	ssize_t written;

	if (!__atomic_load_n(&wanted, __ATOMIC_RELAXED))
		return;
	used = (size_t)snprintf(line, sizeof(line), "oriel: %s %d: ", who, number);
	vsnprintf(line + used, sizeof(line) - used - 1, format, args);
	used = strlen(line);
	line[used++] = '\n';
	written = write(STDERR_FILENO, line, used);
	(void)written; /* a failure would be reported on standard error */
}

void tell(int rank, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line("rank", rank, format, args);
	va_end(args);
}

void tell_of_process(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line("process", (int)getpid(), format, args);
	va_end(args);
}
