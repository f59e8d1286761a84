// SPDX-License-Identifier: BSD-2-Clause
/*
 * intercomm.c - a window on an intercommunicator is what the MPI makes of it: an error, or a
 * window; others are Oriel's as ever.
 */
#include "layer.h"

static int class_of(int code)
{
	int class = MPI_SUCCESS;

	MPI_Error_class(code, &class);
	return class;
}

/* MPICH's own windows are wrong where memory is not aligned to 16 bytes. */
#define BYTES 64

static void ring(MPI_Comm comm)
{
	int rank, size, number, *memory;
	MPI_Win win;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Win_allocate(BYTES, sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
	number = 10 + rank;
	MPI_Win_fence(0, win);
	MPI_Put(&number, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	EXPECT(*memory == 10 + (rank + size - 1) % size);
	MPI_Win_free(&win);
}

static MPI_Comm half, inter;

/* MPICH makes dynamic ones; in MPI_Win_allocate it waits for ever. */
static void W6_intercommunicator(void)
{
	MPI_Win win;
	int code;

	MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	code = MPI_Win_create_dynamic(MPI_INFO_NULL, inter, &win);
	if (layer_rank == 0)
		printf("# dynamic got %d\n", class_of(code));
	if (code == MPI_SUCCESS)
		MPI_Win_free(&win);
}

/* Made of the same ranks. */
static void W6_merged(void)
{
	MPI_Comm merged;

	MPI_Intercomm_merge(inter, layer_rank % 2, &merged);
	ring(merged);
	ring(half);
	MPI_Comm_free(&merged);
}

static void open_halves(void)
{
	MPI_Comm_split(MPI_COMM_WORLD, layer_rank % 2, 0, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - layer_rank % 2, 0, &inter);
}

static void close_halves(void)
{
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

static const struct layer_case cases[] = {
	{ "W6_open", open_halves },
	{ "W6_intercommunicator", W6_intercommunicator },
	{ "W6_merged", W6_merged },
	{ "W6_close", close_halves },
};

LAYER_MAIN(cases)
