// SPDX-License-Identifier: BSD-2-Clause
/*
 * counts.c - a program whose calls are known, for tests of profiles (run)
 *
 *   see-counts [fork|kill|exit|windows|name=NAME|module=FILE]
 *
 * Each rank makes 5 puts of 8 bytes, 3 of 4096, 2 gets of 100 bytes, 7 flushes and 4 fences on the
 * window "counted", or NAME. If NAME is empty, rank 1 has made a window of its own before, and
 * ranks print the error of a signal and a put to a rank that the window does not have. With "fork"
 * it starts a child first, whose call is refused. With "kill" or "exit" rank 1 ends before the last
 * fence. With "windows" it makes more windows than a profile has room for, and rank 1 is late for a
 * fence of each. With "module=" a module (module.c), which is closed again, makes three more puts
 * of 8 bytes.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oriel.h"

#define BYTES 8192
#define WINDOWS 260

static int fences(oriel_win *win, int count)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < count; i++)
		rc = oriel_win_fence(win, 0);
	return rc;
}

static int module_operations(oriel_win *win, int to, const char *path)
{
	int (*put)(oriel_win * win, const void *origin, size_t size_bytes, int target_rank);
	void *module = dlopen(path, RTLD_NOW), *found = module ? dlsym(module, "put_from_module") : NULL;
	static const long long origin = 1;
	int rc = found ? 0 : -1;

	memcpy(&put, &found, sizeof(put));
	for (int i = 0; rc == 0 && i < 3; i++)
		rc = put(win, &origin, sizeof(origin), to);
	return rc || dlclose(module);
}

static int operations(oriel_win *win, int to, const char *module)
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
	if (rc == 0 && module)
		rc = module_operations(win, to, module);
	return rc ? rc : oriel_win_unlock_all(win);
}

static int many_windows(const oriel_job *job, oriel_group *world, oriel_win *first)
{
	static const long long origin = 1;
	oriel_win *win;
	void *base;
	int rc = 0;

	for (int i = 0; rc == 0 && i < WINDOWS; i++) {
		rc = oriel_win_allocate(8, 1, NULL, world, &base, &win) || oriel_win_fence(win, 0) ||
		     oriel_put(win, &origin, sizeof(origin), 0, 0);
		if (rc == 0 && oriel_rank(job) == 1)
			usleep(500);
		rc = rc || oriel_win_fence(win, 0) || oriel_win_free(&win) || fences(first, 1);
	}
	return rc;
}

static int start_child(oriel_win *win)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(oriel_win_flush(win, 0) ? EXIT_SUCCESS : EXIT_FAILURE);
	return pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0;
}

static void die(const char *mode)
{
	if (strcmp(mode, "kill") == 0)
		raise(SIGKILL);
	exit(3);
}

/* Rank 1 makes a window that no other rank has. */
static int own_window(const oriel_job *job, const oriel_group *world)
{
	const int one = 1;
	oriel_group *alone;
	oriel_win *win;
	void *base;

	if (oriel_rank(job) != 1)
		return 0;
	return oriel_group_incl(world, 1, &one, &alone) || oriel_win_allocate(8, 1, NULL, alone, &base, &win) ||
	       oriel_win_free(&win) || oriel_group_free(&alone);
}

static int print_errors(oriel_win *win)
{
	int rc = oriel_signal(win, 99, 0, 1, ORIEL_SIGNAL_ADD);

	fprintf(stderr, "%s\n", oriel_last_error());
	if (rc == 0 || oriel_put(win, &win, sizeof(win), 99, 0) == 0)
		return -1;
	fprintf(stderr, "%s\n", oriel_last_error());
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const char *name = strncmp(mode, "name=", 5) == 0 ? mode + 5 : "counted";
	const char *module = strncmp(mode, "module=", 7) == 0 ? mode + 7 : NULL;
	bool dies = strcmp(mode, "kill") == 0 || strcmp(mode, "exit") == 0;
	oriel_group *world;
	oriel_job *job;
	oriel_win *win;
	void *base;

	if (oriel_init(NULL, &job) || oriel_group_world(job, &world) || (!name[0] && own_window(job, world)) ||
	    oriel_win_allocate(BYTES, 1, NULL, world, &base, &win) || oriel_win_set_name(win, name))
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	if (strcmp(mode, "fork") == 0 && start_child(win))
		return fprintf(stderr, "the child has failed\n"), EXIT_FAILURE;
	if (strcmp(mode, "windows") == 0 && many_windows(job, world, win))
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	if (!name[0] && print_errors(win))
		return fprintf(stderr, "a call has succeeded\n"), EXIT_FAILURE;
	if (fences(win, 2) || operations(win, (oriel_rank(job) + 1) % oriel_size(job), module) || fences(win, 1))
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	if (dies && oriel_rank(job) == 1)
		die(mode);
	if (fences(win, 1) && !dies)
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	oriel_win_free(&win);
	return oriel_group_free(&world) || oriel_finalize(&job);
}
