// SPDX-License-Identifier: BSD-2-Clause
/* collective.c - see collective.h. */
#include "mpi/collective.h"

#include <mpi.h>
#include <sched.h>

#include "mpi/real_mpi.h"

/* MPI_COMM_WORLD handles errors: they end the program during MPI_Init. */
static void await(MPI_Request request)
{
	int done = 0;

	while (real_mpi.Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
		sched_yield();
}

void collective_allgather(const void *mine, int size_bytes, void *all)
{
	MPI_Request request;

	if (PMPI_Iallgather(mine, size_bytes, MPI_BYTE, all, size_bytes, MPI_BYTE, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
		await(request);
}

int collective_min(int mine)
{
	MPI_Request request;
	int least = mine;

	if (PMPI_Iallreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
		await(request);
	return least;
}
