// SPDX-License-Identifier: BSD-2-Clause
/*
 * counts.c - a program whose calls are known, for tests of profiles (run)
 *
 *   see-counts [fork|kill]
 *
 * Each rank makes 5 puts of 8 bytes, 3 of 4096, 2 gets of 100 bytes, 7 flushes and 4 fences on the
 * window "counted". With "fork" it starts a child first, which ends at once. With "kill" rank 1 is
 * killed before the last fence.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oriel.h"

#define BYTES 8192

static int fences(oriel_win *win, int count)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < count; i++)
		rc = oriel_win_fence(win, 0);
	return rc;
}

static int operations(oriel_win *win, int to)
{
	static char bytes[BYTES];
	int rc = oriel_win_lock_all(win, 0);

	for (int i = 0; rc == 0 && i < 5; i++)
		rc = oriel_put(win, bytes, 8, to, 0);
	for (int i = 0; rc == 0 && i < 3; i++)
		rc = oriel_put(win, bytes, 4096, to, 0);
	for (int i = 0; rc == 0 && i < 2; i++)
		rc = oriel_get(win, bytes, 100, to, 0);
	for (int i = 0; rc == 0 && i < 7; i++)
		rc = oriel_win_flush(win, to);
	return rc ? rc : oriel_win_unlock_all(win);
}

static int start_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(EXIT_SUCCESS);
	return pid < 0 || waitpid(pid, NULL, 0) < 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	oriel_group *world;
	oriel_job *job;
	oriel_win *win;
	void *base;

	if (oriel_init(NULL, &job) || oriel_group_world(job, &world) ||
	    oriel_win_allocate(BYTES, 1, NULL, world, &base, &win) || oriel_win_set_name(win, "counted"))
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	if (strcmp(mode, "fork") == 0 && start_child())
		return EXIT_FAILURE;
	if (fences(win, 2) || operations(win, (oriel_rank(job) + 1) % oriel_size(job)) || fences(win, 1))
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	if (strcmp(mode, "kill") == 0 && oriel_rank(job) == 1)
		raise(SIGKILL);
	if (fences(win, 1) && strcmp(mode, "kill") != 0)
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	oriel_win_free(&win);
	return oriel_group_free(&world) || oriel_finalize(&job);
}
