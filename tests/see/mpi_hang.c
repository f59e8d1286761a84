// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_hang.c - an MPI program that hangs, for the tests of oriel-top under oriel-mpi
 *
 *   see-mpi-hang-MPI post|barrier FILE
 *
 * Rank 0 writes its process number to FILE and completes an epoch for rank 1. Rank 1 never posts: it
 * pauses, or is in MPI_Barrier. The job does not end: the test ends it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "see/pid_file.h"

static void complete_for(int target, MPI_Win win)
{
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &target, &group);
	MPI_Win_start(group, 0, win);
	MPI_Win_complete(win);
}

int main(int argc, char **argv)
{
	MPI_Win win;
	void *base;
	int rank;

	MPI_Init(&argc, &argv);
	if (argc != 3)
		return 2;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, "halo");
	if (rank == 0) {
		write_pid(argv[2]);
		complete_for(1, win);
	}
	if (strcmp(argv[1], "barrier") == 0)
		MPI_Barrier(MPI_COMM_WORLD);
	for (;;)
		pause();
}
