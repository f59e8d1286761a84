// SPDX-License-Identifier: BSD-2-Clause
/*
 * exchange.c - two ranks of MPI exchange messages of all sizes, and put and accumulate into each
 * other's windows; for MPIs that run on verbs. Says "2 ranks exchanged" when all has arrived.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	REPEATS = 20,
	WINDOW = 1000, /* numbers */
};

static int rank, other;

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "rank %d: wrong data after %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void exchange(int count)
{
	int *from = malloc(sizeof(*from) * (size_t)count), *to = malloc(sizeof(*to) * (size_t)count);

	check(from && to, "malloc");
	for (int i = 0; i < count; i++)
		from[i] = i + rank;
	for (int repeat = 0; repeat < REPEATS; repeat++) {
		to[0] = to[count - 1] = -1;
		MPI_Sendrecv(from, count, MPI_INT, other, repeat, to, count, MPI_INT, other, repeat, MPI_COMM_WORLD,
		             MPI_STATUS_IGNORE);
		check(to[0] == other && to[count - 1] == count - 1 + other, "MPI_Sendrecv");
	}
	MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check(to[count - 1] == 2 * (count - 1) + 1, "MPI_Allreduce");
	free(from);
	free(to);
}

static void one_sided(void)
{
	double values[WINDOW], *memory;
	MPI_Win win;

	for (int i = 0; i < WINDOW; i++)
		values[i] = rank + 5;
	MPI_Win_allocate(sizeof(values), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_fence(0, win);
	MPI_Put(values, WINDOW, MPI_DOUBLE, other, 0, WINDOW, MPI_DOUBLE, win);
	MPI_Win_fence(0, win);
	check(memory[0] == other + 5 && memory[WINDOW - 1] == other + 5, "MPI_Put");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
	MPI_Accumulate(values, WINDOW, MPI_DOUBLE, other, 0, WINDOW, MPI_DOUBLE, MPI_SUM, win);
	MPI_Win_unlock(other, win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
	check(memory[WINDOW - 1] == 2 * (other + 5), "MPI_Accumulate");
	MPI_Win_unlock(rank, win);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	static const int counts[] = { 1, 1000, 20000, 1000000 };
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	other = 1 - rank;
	check(size == 2, "the start, which was not of two ranks");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		exchange(counts[i]);
	one_sided();
	if (rank == 0)
		printf("2 ranks exchanged\n");
	MPI_Finalize();
	return 0;
}
