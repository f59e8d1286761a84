// SPDX-License-Identifier: BSD-2-Clause
/* A report's file: the former one stays until the new one is whole. */
#ifndef ORIEL_REPORT_FILE_H
#define ORIEL_REPORT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct report_file {
	FILE *file; /* NULL: it cannot be written, and that is printed */
	const char *path;
	char made[PATH_MAX]; /* beside it, until it is whole; "": the path is written to as it is */
};

/* A new file is the user's alone, and replaces what has the name, also a link. A device, a pipe and
 * a name of an open file (/dev/stdout, /dev/fd/N) are written to as they are. */
struct report_file report_file_create(const char *path);

/* Closes it and gives it its name. Prints what prevents that. */
bool report_file_finish(struct report_file *report);

#endif
