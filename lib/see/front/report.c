// SPDX-License-Identifier: BSD-2-Clause
/* See call.h. The report is written by a program of its own: oriel-see (report/main.c). */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "see/front/call.h"

#define PROGRAM_VARIABLE "ORIEL_SEE" /* the starter's */

/* The program is not to be profiled itself. */
static char **without_preload(void)
{
	size_t count = 0, kept = 0;
	char **list;

	while (environ[count])
		count++;
	list = malloc((count + 1) * sizeof(*list));
	for (size_t i = 0; list && i < count; i++) {
		if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
			list[kept++] = environ[i];
	}
	if (list)
		list[kept] = NULL;
	return list;
}

static int run(const char *program, const char *job)
{
	char *const arguments[] = { (char *)program, (char *)"--job", (char *)job, NULL };
	char **environment = without_preload();
	int error = ENOMEM, status;
	pid_t pid;

	if (environment)
		error = posix_spawn(&pid, program, NULL, NULL, arguments, environment);
	free(environment);
	if (error == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	return error;
}

void report_at_end(void)
{
	const char *program = getenv(PROGRAM_VARIABLE);
	struct part *part = part_of_process();
	int error;

	part_end();
	if (!part || part->header.rank != 0)
		return;
	error = program ? run(program, part->header.job) : ENOENT;
	if (error)
		fprintf(stderr, "oriel: no report is written: %s: %s; oriel-see --job '%s' writes it\n",
		        program ? program : PROGRAM_VARIABLE " is not set", strerror(error), part->header.job);
}
