// SPDX-License-Identifier: BSD-2-Clause
/* fatal.c - an error under MPI_ERRORS_ARE_FATAL, which is what windows begin with. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int *memory, number = 0;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Win_allocate(8, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_lock_all(0, win);
	MPI_Put(&number, 1, MPI_INT, 0, 5, 1, MPI_INT, win);
	printf("not ok I5_fatal: the program goes on\n");
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
