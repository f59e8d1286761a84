// SPDX-License-Identifier: BSD-2-Clause
/*
 * tally.c - a library that is preloaded behind the profile's, and counts calls by itself
 *
 * At the end of the process it writes the file tally.RANK in the folder TALLY, with a line for each
 * call: its name, how often it was called, the bytes, and how many calls had bytes of each class
 * (front/part.h).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oriel.h"

enum counted { PUT, GET, FLUSH, FENCE, LOCK, UNLOCK, LOCK_ALL, UNLOCK_ALL, POST, START, COMPLETE, WAIT, COUNTED };
enum { CLASSES = 32 };

static const char *const names[COUNTED] = {
	"oriel_put",      "oriel_get",        "oriel_win_flush",    "oriel_win_fence",
	"oriel_win_lock", "oriel_win_unlock", "oriel_win_lock_all", "oriel_win_unlock_all",
	"oriel_win_post", "oriel_win_start",  "oriel_win_complete", "oriel_win_wait",
};
static uint64_t counts[COUNTED], sums[COUNTED], classes[COUNTED][CLASSES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int class_of(size_t bytes)
{
	int class = 0;

	for (; bytes > 0 && class < CLASSES - 1; bytes /= 2)
		class ++;
	return class;
}

/* Counts a call, and finds the function behind this library. */
static void count(enum counted call, size_t bytes, void *function)
{
	void *next = dlsym(RTLD_NEXT, names[call]);

	memcpy(function, &next, sizeof(next));
	pthread_mutex_lock(&lock);
	counts[call]++;
	sums[call] += bytes;
	classes[call][class_of(bytes)]++;
	pthread_mutex_unlock(&lock);
}

int oriel_put(oriel_win *win, const void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	__typeof__(&oriel_put) next;

	count(PUT, size_bytes, &next);
	return next(win, origin, size_bytes, target_rank, target_disp);
}

int oriel_get(oriel_win *win, void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	__typeof__(&oriel_get) next;

	count(GET, size_bytes, &next);
	return next(win, origin, size_bytes, target_rank, target_disp);
}

int oriel_win_flush(oriel_win *win, int target_rank)
{
	__typeof__(&oriel_win_flush) next;

	count(FLUSH, 0, &next);
	return next(win, target_rank);
}

int oriel_win_fence(oriel_win *win, int assertions)
{
	__typeof__(&oriel_win_fence) next;

	count(FENCE, 0, &next);
	return next(win, assertions);
}

int oriel_win_lock(oriel_win *win, enum oriel_lock_type type, int target_rank, int assertions)
{
	__typeof__(&oriel_win_lock) next;

	count(LOCK, 0, &next);
	return next(win, type, target_rank, assertions);
}

int oriel_win_unlock(oriel_win *win, int target_rank)
{
	__typeof__(&oriel_win_unlock) next;

	count(UNLOCK, 0, &next);
	return next(win, target_rank);
}

int oriel_win_lock_all(oriel_win *win, int assertions)
{
	__typeof__(&oriel_win_lock_all) next;

	count(LOCK_ALL, 0, &next);
	return next(win, assertions);
}

int oriel_win_unlock_all(oriel_win *win)
{
	__typeof__(&oriel_win_unlock_all) next;

	count(UNLOCK_ALL, 0, &next);
	return next(win);
}

int oriel_win_post(oriel_win *win, const oriel_group *origins, int assertions)
{
	__typeof__(&oriel_win_post) next;

	count(POST, 0, &next);
	return next(win, origins, assertions);
}

int oriel_win_start(oriel_win *win, const oriel_group *targets, int assertions)
{
	__typeof__(&oriel_win_start) next;

	count(START, 0, &next);
	return next(win, targets, assertions);
}

int oriel_win_complete(oriel_win *win)
{
	__typeof__(&oriel_win_complete) next;

	count(COMPLETE, 0, &next);
	return next(win);
}

int oriel_win_wait(oriel_win *win)
{
	__typeof__(&oriel_win_wait) next;

	count(WAIT, 0, &next);
	return next(win);
}

__attribute__((destructor)) static void write_tally(void)
{
	const char *folder = getenv("TALLY"), *rank = getenv("ORIEL_RANK");
	char path[4096];
	FILE *file;

	if (!folder || !rank || !counts[FENCE])
		return;
	snprintf(path, sizeof(path), "%s/tally.%s", folder, rank);
	file = fopen(path, "w");
	for (int call = 0; file && call < COUNTED; call++) {
		fprintf(file, "%s %llu %llu", names[call], (unsigned long long)counts[call], (unsigned long long)sums[call]);
		for (int i = 0; i < CLASSES; i++)
			fprintf(file, " %llu", (unsigned long long)classes[call][i]);
		fputc('\n', file);
	}
	if (!file || fclose(file))
		perror(path);
}
