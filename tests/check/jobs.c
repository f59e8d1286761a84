// SPDX-License-Identifier: BSD-2-Clause
/*
 * jobs.c - two jobs of one name, of two ranks each; the first is killed, and in the second a rank is late
 *
 * The ranks are children of this program, with a bootstrap by shared memory. So the jobs are named by
 * this process.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oriel.h"
#include "check/live.h"

#define RANKS 2
#define LATE_MS 900

static struct shared {
	int is_put[RANKS], is_ready[RANKS];
	size_t bytes[RANKS];
	char cards[RANKS][512];
} * shared;

static int own;

static int put(void *context, const void *card, size_t size_bytes)
{
	(void)context;
	if (size_bytes > sizeof(shared->cards[0]))
		return -1;
	memcpy(shared->cards[own], card, size_bytes);
	shared->bytes[own] = size_bytes;
	__atomic_store_n(&shared->is_put[own], 1, __ATOMIC_RELEASE);
	return 0;
}

static int get(void *context, int rank, void *card, size_t *size_bytes)
{
	(void)context;
	if (!__atomic_load_n(&shared->is_put[rank], __ATOMIC_ACQUIRE))
		return 1;
	memcpy(card, shared->cards[rank], shared->bytes[rank]);
	*size_bytes = shared->bytes[rank];
	return 0;
}

/* Rank 1 of the first job ends, and both are killed. */
static int run_rank(bool is_first)
{
	struct oriel_bootstrap bootstrap = {
		.struct_bytes = sizeof(bootstrap), .rank = own, .size = RANKS, .local_size = RANKS, .put = put, .get = get
	};
	struct oriel_options options = { .struct_bytes = sizeof(options), .bootstrap = &bootstrap };
	oriel_job *job;

	if (oriel_init(&options, &job))
		return 1;
	if (is_first && own == 1)
		oriel_finalize(&job);
	__atomic_store_n(&shared->is_ready[own], 1, __ATOMIC_RELEASE);
	while (is_first)
		pause();
	if (own == 1)
		sleep_ms(LATE_MS);
	return oriel_barrier(job) || oriel_finalize(&job);
}

static pid_t start_rank(char *rank, char *is_first)
{
	char path[] = "/proc/self/exe", *arguments[] = { path, rank, is_first, NULL };
	pid_t pid = fork();

	if (pid)
		return pid;
	execv(path, arguments);
	_exit(1);
}

/* Returns whether both ranks have ended well. */
static bool run_job(char *is_first)
{
	char ranks[RANKS][2] = { "0", "1" };
	pid_t pids[RANKS];
	bool is_good = true;
	int status;

	memset(shared, 0, sizeof(*shared));
	for (int i = 0; i < RANKS; i++)
		pids[i] = start_rank(ranks[i], is_first);
	for (int i = 0; *is_first == '1' && i < RANKS; i++) {
		while (!__atomic_load_n(&shared->is_ready[i], __ATOMIC_ACQUIRE))
			sleep_ms(1);
	}
	for (int i = 0; i < RANKS; i++) {
		if (*is_first == '1')
			kill(pids[i], SIGKILL);
		is_good &= waitpid(pids[i], &status, 0) == pids[i] && status == 0;
	}
	return is_good;
}

#define SHARED_FD 100 /* inherited by the ranks */

int main(int argc, char **argv)
{
	char first[] = "1", second[] = "0";
	int fd = SHARED_FD;

	if (argc != 3) {
		fd = memfd_create("cards", 0);
		if (fd < 0 || ftruncate(fd, sizeof(*shared)) || dup2(fd, SHARED_FD) < 0)
			return 1;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
	if (shared == MAP_FAILED)
		return 1;
	if (argc == 3) {
		own = atoi(argv[1]);
		return run_rank(*argv[2] == '1');
	}
	run_job(first);
	return run_job(second) ? 0 : 1;
}
