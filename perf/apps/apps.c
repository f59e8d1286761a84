// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"

int rank, ranks;

void begin(int argc, char **argv, const char *names, int count, long *values)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < count; i++) {
		values[i] = argc == count + 1 ? strtol(argv[i + 1], NULL, 10) : 0;
		if (values[i] > 0)
			continue;
		fprintf(stderr, "usage: %s %s, numbers from 1\n", argv[0], names);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

/* MPICH 4.0.2 misplaces parts of a window if their sizes are not multiples of 16. */
void *window_of(long bytes, int unit, MPI_Win *win)
{
	void *memory;

	bytes = (bytes + 63) & ~63L;
	MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win);
	memset(memory, 0, (size_t)bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	return memory;
}

/* Marsaglia's xorshift, with a final multiplication. */
unsigned long next_random(unsigned long *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717UL;
}

int end_with(const char *name, double mine)
{
	double sum = 0;

	MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("result: %s %.9g\n", name, sum);
	fflush(stdout);
	return MPI_Finalize();
}
