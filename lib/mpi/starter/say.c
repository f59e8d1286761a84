// SPDX-License-Identifier: BSD-2-Clause
/* See starter.h. */
#include "mpi/starter/starter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *say_name = "oriel-mpi";

void say_and_exit(int status, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", say_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}
