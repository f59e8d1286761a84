// SPDX-License-Identifier: BSD-2-Clause
/* armci.c - ARMCI, whose library of Debian is one-sided MPI and nothing else. */
#include <armci.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, failed;
static double gotten; /* of all that has been got, to compare it with another run */

#define EXPECT(condition)                                                            \
	do {                                                                             \
		if (!(condition)) {                                                          \
			fprintf(stderr, "# rank %d: line %d: %s\n", rank, __LINE__, #condition); \
			failed++;                                                                \
		}                                                                            \
	} while (0)

static void contiguous(void **memory)
{
	double *here = memory[rank], out = 10 + rank, in = 0;
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	ARMCI_Put(&out, (double *)memory[right] + 1, sizeof(out), right);
	ARMCI_Fence(right);
	ARMCI_Barrier();
	ARMCI_Get((double *)memory[right] + 1, &in, sizeof(in), right);
	EXPECT(in == 10 + rank);
	gotten += in;
	ARMCI_Access_begin(here);
	EXPECT(here[1] == 10 + left);
	ARMCI_Access_end(here);
	ARMCI_Barrier();
}

static void strided(void **memory)
{
	double out[16], in[16] = { 0 }, scale = 2;
	int right = (rank + 1) % ranks, counts[2] = { 2 * sizeof(double), 4 }, stride = 4 * sizeof(double);

	for (int i = 0; i < 16; i++)
		out[i] = 100 * rank + i;
	ARMCI_PutS(out, &stride, (double *)memory[right] + 4, &stride, counts, 1, right);
	ARMCI_AccS(ARMCI_ACC_DBL, &scale, out, &stride, (double *)memory[right] + 4, &stride, counts, 1, right);
	ARMCI_Fence(right);
	ARMCI_GetS((double *)memory[right] + 4, &stride, in, &stride, counts, 1, right);
	for (int i = 0; i < 16; i++) {
		EXPECT(in[i] == (i % 4 < 2 ? 3 * (100 * rank + i) : 0));
		gotten += in[i];
	}
	ARMCI_Barrier();
}

static void counter(void **memory)
{
	long ticket, last = -1;

	for (int i = 0; i < 10; i++) {
		ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, (long *)memory[0] + 30, 1, 0);
		EXPECT(ticket > last && ticket < 10 * ranks);
		last = ticket;
	}
	ARMCI_Barrier();
	ARMCI_Get((long *)memory[0] + 30, &ticket, sizeof(ticket), 0);
	EXPECT(ticket == 10 * ranks);
	gotten += (double)ticket;
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	void **memory;
	double all_gotten;
	int all;

	MPI_Init(&argc, &argv);
	ARMCI_Init();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	memory = calloc((size_t)ranks, sizeof(*memory));
	ARMCI_Malloc(memory, 256);
	ARMCI_Access_begin(memory[rank]);
	for (int i = 0; i < 32; i++)
		((double *)memory[rank])[i] = 0;
	ARMCI_Access_end(memory[rank]);
	ARMCI_Barrier();
	contiguous(memory);
	strided(memory);
	counter(memory);
	ARMCI_Free(memory[rank]);
	MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(&gotten, &all_gotten, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("# armci got %.17g\n", all_gotten);
	if (rank == 0)
		printf(all ? "not ok W1_armci: %d things do not hold\n" : "ok W1_armci\n", all);
	ARMCI_Finalize();
	MPI_Finalize();
	return all != 0;
}
