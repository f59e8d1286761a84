// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls.c - a program that makes many calls, for tests of timelines (run)
 *
 *   see-calls CALLS THREADS [FOLDER SEED]
 *
 * Each thread of a rank makes CALLS puts of 8 bytes, and a flush after every tenth. The ranks begin
 * and end with a fence on the window "ring". With a folder rank 1 writes how many puts of its
 * first thread have returned to FOLDER/calls, makes puts without end, and is killed at a moment
 * that the seed says.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "oriel.h"

enum { THREADS_MAX = 128, FIRST_KILL_US = 20, KILLS_WITHIN_US = 500 };

static oriel_win *win;
static int target;
static long calls;
static atomic_long unkept;          /* where calls are counted without a folder */
static atomic_long *made = &unkept; /* by the first thread */

static void *put(void *number)
{
	static const char bytes[8];
	int rc = 0;

	for (long i = 1; rc == 0 && i <= calls; i++) {
		rc = oriel_put(win, bytes, sizeof(bytes), target, 0);
		if (!number)
			atomic_fetch_add(made, 1);
		if (rc == 0 && i % 10 == 0)
			rc = oriel_win_flush(win, target);
	}
	return NULL;
}

static int run_threads(int count)
{
	pthread_t threads[THREADS_MAX];

	for (int i = 1; i < count; i++) {
		if (pthread_create(&threads[i], NULL, put, threads))
			return -1;
	}
	put(NULL);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* ---- the death of rank 1 ---- */

static void *kill_later(void *us)
{
	long wait_us = (long)us;
	struct timespec nap = { wait_us / 1000000, wait_us % 1000000 * 1000 };

	nanosleep(&nap, NULL);
	raise(SIGKILL);
	return NULL;
}

/* Counts calls in a file, which is there after the process has been killed. */
static int count_in(const char *folder)
{
	char path[512];
	void *memory;
	int fd;

	snprintf(path, sizeof(path), "%s/calls", folder);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*made)))
		return -1;
	memory = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return -1;
	made = memory;
	return 0;
}

static int prepare_death(const char *folder, unsigned seed)
{
	pthread_t killer;

	srandom(seed);
	calls = LONG_MAX;
	return count_in(folder) ||
	       pthread_create(&killer, NULL, kill_later, (void *)(FIRST_KILL_US + random() % KILLS_WITHIN_US));
}

int main(int argc, char **argv)
{
	oriel_group *world;
	oriel_job *job;
	void *base;
	int rc;

	if (argc < 3)
		return 2;
	calls = atol(argv[1]);
	if (oriel_init(NULL, &job) || oriel_group_world(job, &world) ||
	    oriel_win_allocate(64, 1, NULL, world, &base, &win) || oriel_win_set_name(win, "ring") ||
	    oriel_win_fence(win, 0) || oriel_win_lock_all(win, 0))
		return fprintf(stderr, "%s\n", oriel_last_error()), EXIT_FAILURE;
	target = (oriel_rank(job) + 1) % oriel_size(job);
	if (argc == 5 && oriel_rank(job) == 1 && prepare_death(argv[3], (unsigned)atoi(argv[4])))
		return perror(argv[3]), EXIT_FAILURE;
	if (run_threads(atoi(argv[2])))
		return EXIT_FAILURE;
	rc = oriel_win_unlock_all(win) || oriel_win_fence(win, 0);
	rc |= oriel_win_free(&win) || oriel_group_free(&world) || oriel_finalize(&job);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
