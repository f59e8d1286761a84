/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.h - random programs in which ranks are late, and that end all the same
 *
 * A program is a row of steps, the same for all ranks. In each step ranks wait for others, which
 * compute, sleep, or are stopped. live.c has the steps for oriel.h, mpi_live.c for MPI.
 */
#ifndef TESTS_CHECK_LIVE_H
#define TESTS_CHECK_LIVE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LATE_MOST_MS 40
#define STOPPED_MS 60

/* The numbers of a seed are the same on all ranks. */
static inline uint32_t draw(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33) % below;
}

static inline void sleep_ms(uint32_t ms)
{
	nanosleep(&(struct timespec){ 0, (long)ms * 1000000 }, NULL);
}

static inline bool is_stopped(pid_t pid)
{
	char path[32], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
		state = '?';
	if (file)
		fclose(file);
	return state == 'T';
}

/* Stops this process. A child lets it go on, again and again, since it may do so too early. */
static inline void be_stopped(uint32_t ms)
{
	pid_t self = getpid(), child = fork();

	if (child == 0) {
		do {
			sleep_ms(ms + 1);
			kill(self, SIGCONT);
		} while (getppid() == self);
		_exit(0);
	}
	if (child < 0)
		return;
	raise(SIGSTOP);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* A child stops this process in a later call, and lets it go on. The next one ends this child. */
static inline void be_stopped_later(uint32_t ms)
{
	static pid_t child;
	pid_t self = getpid();

	if (child > 0)
		waitpid(child, NULL, 0);
	child = fork();
	if (child != 0)
		return;
	sleep_ms(ms);
	if (getppid() == self)
		kill(self, SIGSTOP);
	do {
		sleep_ms(STOPPED_MS);
		kill(self, SIGCONT);
	} while (getppid() == self && is_stopped(self));
	_exit(0);
}

/* Makes a rank late. All ranks draw for all. */
static inline void be_late(uint64_t *state, int rank, int size)
{
	for (int other = 0; other < size; other++) {
		uint32_t how = draw(state, 8), ms = draw(state, LATE_MOST_MS);

		if (other != rank)
			continue;
		if (how == 0)
			be_stopped(ms);
		else if (how == 7)
			be_stopped_later(ms);
		else if (how < 4)
			sleep_ms(ms);
	}
}

#endif
