// SPDX-License-Identifier: BSD-2-Clause
/*
 * spawned.c - a window with ranks of another world is the MPI's own, on all of them; others are
 * Oriel's as ever.
 */
#include <mpi.h>
#include <stdio.h>

static int use_window(MPI_Comm comm)
{
	int rank, size, number, *memory, held;
	MPI_Win win;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
	number = 10 + rank;
	MPI_Win_fence(0, win);
	MPI_Put(&number, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	held = *memory == 10 + (rank + size - 1) % size;
	MPI_Win_free(&win);
	return held;
}

int main(int argc, char **argv)
{
	MPI_Comm parent, other, merged;
	int rank, held, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL)
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
	else
		other = parent;
	MPI_Intercomm_merge(other, parent != MPI_COMM_NULL, &merged);
	held = use_window(merged);
	held &= use_window(MPI_COMM_WORLD);
	MPI_Allreduce(&held, &all, 1, MPI_INT, MPI_LAND, merged);
	MPI_Comm_rank(merged, &rank);
	if (rank == 0)
		printf(all ? "ok W6_spawned\n" : "not ok W6_spawned: a number did not arrive\n");
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&other);
	MPI_Finalize();
	return 0;
}
