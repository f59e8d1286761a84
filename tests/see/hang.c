// SPDX-License-Identifier: BSD-2-Clause
/*
 * hang.c - a job that hangs in a known way, for the tests of oriel-top
 *
 *   see-hang HOW FILE
 *
 * Rank 0 writes its process number to FILE. The job does not end: the test ends it.
 *
 *   post      rank 1 never posts; rank 0 is in complete
 *   posts     rank 1 posts for rank 2 four times, never for rank 0, which is in complete
 *   stop      rank 1 stops its process after an epoch; rank 0 is in complete
 *   complete  rank 0 never completes; rank 1 is in wait
 *   fence     rank 2 never calls fence
 *   held      rank 1 keeps the lock of rank 2; rank 0 is in lock
 *   circle    rank 0 keeps its own lock and asks for that of rank 2; rank 1 keeps that and asks for the first
 *   chain     rank 2 computes; 1 waits for its post, and 0 for that of 1
 *   barrier   the last rank never calls barrier
 *   create    the last rank never creates the second window
 *   detach    rank 0 has put to memory of rank 1 and stops its process; rank 1 is in detach
 *   signal    rank 0 waits for a signal that no rank sends
 */
#include <oriel.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "see/pid_file.h"

static oriel_job *job;
static oriel_group *world;
static oriel_win *win;
static void *base;
static int rank, last;

static void check(int rc, const char *what)
{
	if (rc == 0)
		return;
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, oriel_last_error());
	exit(1);
}

static void make_window(const char *name)
{
	const struct oriel_hint hints[] = { { "signals", "1" }, { NULL, NULL } };

	check(oriel_win_allocate(4096, 1, hints, world, &base, &win), "oriel_win_allocate");
	check(oriel_win_set_name(win, name), "oriel_win_set_name");
}

static oriel_group *only(int other)
{
	oriel_group *group;

	check(oriel_group_incl(world, 1, &other, &group), "oriel_group_incl");
	return group;
}

static void start_to(int target)
{
	check(oriel_win_start(win, only(target), 0), "oriel_win_start");
}

static void post_for(int origin)
{
	check(oriel_win_post(win, only(origin), 0), "oriel_win_post");
}

static void complete(void)
{
	check(oriel_win_complete(win), "oriel_win_complete");
}

static void await(void)
{
	check(oriel_win_wait(win), "oriel_win_wait");
}

static void lock(int target)
{
	check(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, target, 0), "oriel_win_lock");
}

static void meet(void)
{
	check(oriel_barrier(job), "oriel_barrier");
}

static void hang_post(void)
{
	if (rank != 0)
		return;
	start_to(1);
	complete();
}

/* Rank 0 starts to itself, and has not posted. */
static void hang_self(void)
{
	if (rank != 0)
		return;
	start_to(0);
	complete();
}

static void epoch(int origin, int target)
{
	if (rank == target)
		post_for(origin);
	if (rank == origin) {
		start_to(target);
		complete();
	}
	if (rank == target)
		await();
}

static void hang_posts(void)
{
	for (int i = 0; i < 4; i++)
		epoch(2, 1);
	hang_post();
}

static void hang_stop(void)
{
	epoch(0, 1);
	meet();
	if (rank == 1)
		raise(SIGSTOP);
	hang_post();
}

static void hang_complete(void)
{
	if (rank == 0)
		start_to(1);
	if (rank != 1)
		return;
	post_for(0);
	await();
}

static void hang_fence(void)
{
	check(oriel_win_fence(win, 0), "oriel_win_fence");
	if (rank != 2)
		check(oriel_win_fence(win, 0), "oriel_win_fence");
}

static void hang_held(void)
{
	if (rank == 1)
		lock(2);
	meet();
	if (rank == 0)
		lock(2);
}

static void hang_circle(void)
{
	if (rank == 0)
		lock(0);
	if (rank == 1)
		lock(2);
	meet();
	if (rank == 0)
		lock(2);
	if (rank == 1)
		lock(0);
}

static void hang_chain(void)
{
	if (rank < 2) {
		start_to(rank + 1);
		complete();
	}
	for (volatile unsigned turns = 0; rank == 2;)
		turns++;
}

static void hang_barrier(void)
{
	if (rank != last)
		meet();
}

static void hang_create(void)
{
	if (rank != last)
		make_window("second");
}

/* Makes a dynamic window in which rank 1 has attached memory; returns where that is. */
static uint64_t attach(oriel_win **dynamic, void *memory, size_t size_bytes)
{
	uint64_t where = (uintptr_t)memory;

	check(oriel_win_create_dynamic(NULL, world, dynamic), "oriel_win_create_dynamic");
	if (rank == 1)
		check(oriel_win_attach(*dynamic, memory, size_bytes), "oriel_win_attach");
	check(oriel_win_fence(win, 0), "oriel_win_fence");
	if (rank == 1)
		check(oriel_put(win, &where, sizeof(where), 0, 0), "oriel_put");
	check(oriel_win_fence(win, 0), "oriel_win_fence");
	memcpy(&where, base, sizeof(where));
	return where;
}

static void await_stopped(int pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'T') {
		FILE *file = fopen(path, "r");

		if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
			exit(2);
		fclose(file);
		usleep(1000);
	}
}

/* Rank 0 puts its process number. It would agree to the detach until it is stopped. */
static void hang_detach(void)
{
	static int memory, pid;
	oriel_win *dynamic;
	uint64_t where = attach(&dynamic, &memory, sizeof(memory));

	pid = getpid();
	if (rank == 0) {
		check(oriel_win_lock(dynamic, ORIEL_LOCK_SHARED, 1, 0), "oriel_win_lock");
		check(oriel_put(dynamic, &pid, sizeof(pid), 1, where), "oriel_put");
		check(oriel_win_unlock(dynamic, 1), "oriel_win_unlock");
	}
	meet();
	if (rank == 0)
		raise(SIGSTOP);
	if (rank == 1) {
		await_stopped(memory);
		check(oriel_win_detach(dynamic, &memory), "oriel_win_detach");
	}
}

static void hang_signal(void)
{
	uint32_t signal;
	uint64_t value;

	if (rank == 0)
		check(oriel_signal_wait(win, 0, 1, &signal, &value), "oriel_signal_wait");
}

static const struct {
	const char *name;
	void (*hang)(void);
} ways[] = { { "post", hang_post },         { "posts", hang_posts },   { "stop", hang_stop },
	         { "complete", hang_complete }, { "fence", hang_fence },   { "held", hang_held },
	         { "circle", hang_circle },     { "chain", hang_chain },   { "barrier", hang_barrier },
	         { "create", hang_create },     { "detach", hang_detach }, { "signal", hang_signal },
	         { "self", hang_self } };

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	check(oriel_init(NULL, &job), "oriel_init");
	check(oriel_group_world(job, &world), "oriel_group_world");
	rank = oriel_rank(job);
	last = oriel_group_size(world) - 1;
	make_window("halo");
	if (rank == 0)
		write_pid(argv[2]);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[1]) == 0)
			ways[i].hang();
	}
	for (;;)
		pause();
}
