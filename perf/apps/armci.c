// SPDX-License-Identifier: BSD-2-Clause
/*
 * armci.c - what Global Arrays needs of ARMCI, which Debian builds on one-sided MPI alone
 *
 * usage: armci SHAPE ROUNDS
 *
 * SHAPE 1: contiguous puts and gets of 8 bytes to 64 KiB. SHAPE 2: puts and gets of patches of a
 * matrix. SHAPE 3: accumulates of such patches. SHAPE 4: fetch-and-add on rank 0, by which ranks
 * share tasks. Each rank works on the memory of the next.
 */
#include <armci.h>
#include <stdlib.h>

#include "apps/apps.h"

enum { CONTIGUOUS = 1, STRIDED, ACCUMULATE, COUNTER };
enum { SIDE = 512, NUMBERS = SIDE * SIDE, LARGEST_PATCH = 128 };

static void **memory; /* each rank's matrix, then a counter */
static double *local; /* a matrix of this rank's own */
static int to;

static double contiguous(long round)
{
	double *there = memory[to], got = 0;

	for (int numbers = 1; numbers <= 8192; numbers *= 2) {
		local[0] = (double)(round + numbers);
		ARMCI_Put(local, there + numbers, numbers * (int)sizeof(double), to);
		ARMCI_Fence(to);
		ARMCI_Get(there + numbers, local + NUMBERS / 2, numbers * (int)sizeof(double), to);
		got += local[NUMBERS / 2];
	}
	return got;
}

static double patch(int side, int accumulates)
{
	double *there = (double *)memory[to] + 3 * SIDE + 5, *here = local + NUMBERS / 2, scale = 0.5;
	int stride = SIDE * (int)sizeof(double), counts[2] = { side * (int)sizeof(double), side };

	if (accumulates) {
		ARMCI_AccS(ARMCI_ACC_DBL, &scale, local, &stride, there, &stride, counts, 1, to);
		return 0;
	}
	ARMCI_PutS(local, &stride, there, &stride, counts, 1, to);
	ARMCI_Fence(to);
	ARMCI_GetS(there, &stride, here, &stride, counts, 1, to);
	return here[side - 1];
}

static double patches(long round, int accumulates)
{
	double got = 0;

	for (int side = 4; side <= LARGEST_PATCH; side *= 2) {
		local[side - 1] = (double)(round + side);
		got += patch(side, accumulates);
	}
	return got;
}

static double task(void)
{
	long ticket;

	ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, (double *)memory[0] + NUMBERS, 1, 0);
	return (double)ticket;
}

static double do_round(long shape, long round)
{
	switch (shape) {
	case CONTIGUOUS:
		return contiguous(round);
	case STRIDED:
		return patches(round, 0);
	case ACCUMULATE:
		return patches(round, 1);
	default:
		return task();
	}
}

/* Accumulates are checked by their result. */
static double sum_of_memory(void)
{
	double sum = 0, *here = memory[rank];

	ARMCI_Barrier();
	ARMCI_Access_begin(here);
	for (int i = 0; i < NUMBERS; i++)
		sum += here[i];
	ARMCI_Access_end(here);
	return sum;
}

int main(int argc, char **argv)
{
	long arguments[2];
	double got = 0;

	begin(argc, argv, "SHAPE ROUNDS", 2, arguments);
	ARMCI_Init();
	to = (rank + 1) % ranks;
	memory = calloc((size_t)ranks, sizeof(*memory));
	local = calloc(NUMBERS, sizeof(*local));
	ARMCI_Malloc(memory, (NUMBERS + 1) * (armci_size_t)sizeof(double));
	ARMCI_Access_begin(memory[rank]);
	for (int i = 0; i <= NUMBERS; i++)
		((double *)memory[rank])[i] = 0;
	ARMCI_Access_end(memory[rank]);
	ARMCI_Barrier();
	for (long round = 0; round < arguments[1]; round++)
		got += do_round(arguments[0], round);
	got += sum_of_memory();
	ARMCI_Barrier();
	ARMCI_Free(memory[rank]);
	ARMCI_Finalize();
	return end_with("sum", got);
}
