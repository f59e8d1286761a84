// SPDX-License-Identifier: BSD-2-Clause
/*
 * stopped.c - a rank that gets no processor for some seconds is waited for, also by one that has no
 * connection to it yet.
 */
#include "layer.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#define STOPPED 3 /* of 8 ranks: one that rank 0 has nothing to do with where all make a window together */
#define STOPPED_SECONDS 6

/* For longer than Oriel by itself gives a rank to answer. */
static void stop(pid_t pid)
{
	kill(pid, SIGSTOP);
	if (fork() != 0)
		return;
	sleep(STOPPED_SECONDS);
	kill(pid, SIGCONT);
	_exit(0);
}

static void put_to_stopped(MPI_Win win, pid_t pid)
{
	int number = 42;

	stop(pid);
	MPI_Win_lock(MPI_LOCK_SHARED, STOPPED, 0, win);
	EXPECT(MPI_Put(&number, 1, MPI_INT, STOPPED, 0, 1, MPI_INT, win) == MPI_SUCCESS);
	EXPECT(MPI_Win_unlock(STOPPED, win) == MPI_SUCCESS);
}

/* Ranks that have nothing to do leave the processors to the others. */
static void barrier_asleep(void)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	while (!done) {
		usleep(10000);
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	}
}

static void E6_stopped_rank_is_waited_for(void)
{
	int memory = 0, pid = (int)getpid();
	MPI_Win win;

	if (layer_size <= STOPPED)
		return;
	MPI_Win_create(&memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Bcast(&pid, 1, MPI_INT, STOPPED, MPI_COMM_WORLD);
	if (layer_rank == 0)
		put_to_stopped(win, pid);
	barrier_asleep();
	EXPECT(memory == (layer_rank == STOPPED ? 42 : 0));
	MPI_Win_free(&win);
}

static const struct layer_case cases[] = {
	{ "E6_stopped_rank_is_waited_for", E6_stopped_rank_is_waited_for },
};

LAYER_MAIN(cases)
