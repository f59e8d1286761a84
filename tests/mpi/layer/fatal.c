// SPDX-License-Identifier: BSD-2-Clause
/* fatal.c - an error under MPI_ERRORS_ARE_FATAL, with which windows begin: range, or freed */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int number;

static void range(MPI_Win win)
{
	MPI_Win_lock_all(0, win);
	MPI_Put(&number, 1, MPI_INT, 0, 5, 1, MPI_INT, win);
}

/* MPI_Win_free sets the program's handle to MPI_WIN_NULL, but not its copies. */
static void freed(MPI_Win win)
{
	MPI_Win copy = win;

	MPI_Win_free(&win);
	MPI_Put(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, copy);
}

int main(int argc, char **argv)
{
	int *memory;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Win_allocate(8, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	if (argc > 1 && strcmp(argv[1], "freed") == 0)
		freed(win);
	else
		range(win);
	printf("not ok I5_fatal: the program goes on\n");
	MPI_Finalize();
	return 0;
}
