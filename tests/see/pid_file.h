/* SPDX-License-Identifier: BSD-2-Clause */
/* pid_file.h - a process that a test waits for writes its number to a file */
#ifndef ORIEL_TESTS_SEE_PID_FILE_H
#define ORIEL_TESTS_SEE_PID_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes the process number. The file is there when it is whole. */
static inline void write_pid(const char *path)
{
	char hidden[256];
	FILE *file;

	snprintf(hidden, sizeof(hidden), "%s.new", path);
	file = fopen(hidden, "w");
	if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) || rename(hidden, path)) {
		perror(path);
		exit(1);
	}
}

#endif
