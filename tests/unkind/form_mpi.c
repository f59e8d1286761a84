// SPDX-License-Identifier: BSD-2-Clause
/* form_mpi.c - the calls of bugs.c in MPI */
#include <mpi.h>

#include "unkind/bugs.h"

static MPI_Win win;
static MPI_Group other; /* the other rank */
static int rank;
static long memory[LONGS_MAX];

static int begin(int *argc, char ***argv)
{
	MPI_Group world;
	int partner;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	partner = 1 - rank;
	MPI_Group_incl(world, 1, &partner, &other);
	MPI_Group_free(&world);
	return rank;
}

static void end(void)
{
	MPI_Group_free(&other);
	MPI_Finalize();
}

static long *window(enum kind kind)
{
	long *base = memory;

	if (kind == SHARED)
		MPI_Win_allocate_shared(sizeof(memory), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	else if (kind == ALLOCATED)
		MPI_Win_allocate(sizeof(memory), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	else
		MPI_Win_create(base, sizeof(memory), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	return base;
}

static void window_free(void)
{
	MPI_Win_free(&win);
}

static void open(enum how how)
{
	switch (how) {
	case BY_FENCE:
		MPI_Win_fence(0, win);
		break;
	case BY_COMPLETE:
		if (rank == 0)
			MPI_Win_start(other, 0, win);
		else
			MPI_Win_post(other, 0, win);
		break;
	case BY_UNLOCK:
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
		break;
	default:
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			MPI_Win_lock_all(0, win);
	}
}

static void close(enum how how)
{
	switch (how) {
	case BY_FENCE:
		MPI_Win_fence(0, win);
		break;
	case BY_COMPLETE:
		if (rank == 0)
			MPI_Win_complete(win);
		else
			MPI_Win_wait(win);
		break;
	case BY_UNLOCK:
		if (rank == 0)
			MPI_Win_unlock(1, win);
		break;
	default:
		if (rank == 0) {
			MPI_Win_flush(1, win);
			MPI_Win_unlock_all(win);
		}
	}
}

static void put(const long *from, size_t count, size_t at)
{
	MPI_Put(from, (int)count, MPI_LONG, 1, (MPI_Aint)at, (int)count, MPI_LONG, win);
}

static void get(long *to, size_t count, size_t at)
{
	MPI_Get(to, (int)count, MPI_LONG, 1, (MPI_Aint)at, (int)count, MPI_LONG, win);
}

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static int sum(int mine)
{
	int all;

	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

const struct form form = { begin, end, window, window_free, open, close, put, get, barrier, sum };
