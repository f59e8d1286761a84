// SPDX-License-Identifier: BSD-2-Clause
/* mpi_row.c - puts of an MPI program that go on where the last one ended, in units of 8 bytes (run) */
#include <mpi.h>

enum { PUTS = 1000000, ELEMENTS = 1 << 16 };

int main(int argc, char **argv)
{
	double *base, value = 1;
	int rank, ranks;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Win_allocate(ELEMENTS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, "units");
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < PUTS; i++)
		MPI_Put(&value, 1, MPI_DOUBLE, (rank + 1) % ranks, i % ELEMENTS, 1, MPI_DOUBLE, win);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
