// SPDX-License-Identifier: BSD-2-Clause
/* See starter.h. */
#include "mpi/starter/starter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *say_name = "oriel-mpi";

void say_and_exit(int status, const char *format, ...)
{
	char text[1024], line[sizeof(text) + 64];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	snprintf(line, sizeof(line), "%s: %s\n", say_name, text);
	fputs(line, stderr); /* one write */
	exit(status);
}
