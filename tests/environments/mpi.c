// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi.c - an MPI program with windows, for the tests of restricted environments
 *
 *   environments-mpi STEP...
 *
 *   create     a window on memory of malloc: puts and fences, locks and gets, each byte checked
 *   allocate   the same on an allocated window
 *   large      the same on an allocated window of 40 MB
 *
 * Each rank prints "STEP is right" for each. It knows nothing of Oriel, and does the same without oriel-mpi.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_BYTES 100000
#define LARGE_BYTES 40000000

static unsigned char letter(int origin, int target, int at)
{
	return (unsigned char)(origin * 31 + target * 7 + at % 251);
}

static bool are_right(const unsigned char *bytes, int origin, int target)
{
	for (int at = 0; at < PART_BYTES; at++)
		if (bytes[at] != letter(origin, target, at))
			return false;
	return true;
}

static void fill(unsigned char *bytes, int origin, int target)
{
	for (int at = 0; at < PART_BYTES; at++)
		bytes[at] = letter(origin, target, at);
}

/* Each rank writes its part of the next one, and reads it back. */
static bool use(MPI_Win win, const unsigned char *base, MPI_Comm comm)
{
	unsigned char *from = malloc(PART_BYTES), *back = malloc(PART_BYTES);
	int rank, size, next, previous;
	bool right;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	fill(from, rank, next);
	MPI_Win_fence(0, win);
	MPI_Put(from, PART_BYTES, MPI_BYTE, next, (MPI_Aint)rank * PART_BYTES, PART_BYTES, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	right = are_right(base + (size_t)previous * PART_BYTES, previous, rank);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	memset(back, 0, PART_BYTES);
	MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
	MPI_Get(back, PART_BYTES, MPI_BYTE, next, (MPI_Aint)rank * PART_BYTES, PART_BYTES, MPI_BYTE, win);
	MPI_Win_unlock(next, win);
	right = right && are_right(back, rank, next);
	free(from);
	free(back);
	return right;
}

static bool on_memory_of_malloc(MPI_Comm comm)
{
	int size;
	unsigned char *base;
	MPI_Win win;
	bool right;

	MPI_Comm_size(comm, &size);
	base = malloc((size_t)size * PART_BYTES);
	MPI_Win_create(base, (MPI_Aint)size * PART_BYTES, 1, MPI_INFO_NULL, comm, &win);
	right = use(win, base, comm);
	MPI_Win_free(&win);
	free(base);
	return right;
}

static bool on_allocated_memory(MPI_Aint bytes, MPI_Comm comm)
{
	unsigned char *base;
	MPI_Win win;
	bool right;

	MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &base, &win);
	right = use(win, base, comm);
	MPI_Win_free(&win);
	return right;
}

static bool step(const char *name, int size)
{
	if (strcmp(name, "create") == 0)
		return on_memory_of_malloc(MPI_COMM_WORLD);
	return on_allocated_memory(strcmp(name, "large") ? (MPI_Aint)size * PART_BYTES : LARGE_BYTES, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int size, wrong = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 1; i < argc; i++) {
		bool right = step(argv[i], size);

		printf("%s is %s\n", argv[i], right ? "right" : "wrong");
		wrong += !right;
	}
	fflush(stdout);
	MPI_Finalize();
	return wrong != 0;
}
