// SPDX-License-Identifier: BSD-2-Clause
/* See spawn.h. */
#include "see/front/spawn.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program is not to be recorded itself. */
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

int spawn_and_wait(const char *program, char *const arguments[])
{
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
