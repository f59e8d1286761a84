// SPDX-License-Identifier: BSD-2-Clause
/*
 * beside.c - a program that creates a window, then only sends messages or runs collectives
 *
 * usage: beside WHAT ROUNDS
 *
 * WHAT 1: messages, as ping-pong and to both neighbours at once, of 8 bytes to 1 MiB. WHAT 2:
 * barriers, and broadcasts, sums and exchanges of 8 bytes to 64 KiB.
 */
#include <stdlib.h>

#include "apps/apps.h"

enum { MESSAGES = 1, COLLECTIVES = 2, MOST = 131072 };

static double *sent, *gotten;

/* Runs a ping-pong between ranks 2n and 2n + 1; a rank without a partner waits for the others. */
static void to_and_fro(int numbers)
{
	int partner = rank ^ 1;

	if (partner >= ranks)
		return;
	if (rank < partner)
		MPI_Send(sent, numbers, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
	MPI_Recv(gotten, numbers, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank > partner)
		MPI_Send(sent, numbers, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
}

static void to_neighbours(int numbers)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	MPI_Request requests[4];
	MPI_Status statuses[4];

	MPI_Irecv(gotten, numbers, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(gotten + numbers, numbers, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(sent, numbers, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(sent, numbers, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, statuses);
}

static double messages(void)
{
	double sum = 0;

	for (int numbers = 1; numbers <= MOST; numbers *= 8) {
		for (int i = 0; i < 1 + MOST / 64 / numbers; i++) {
			to_and_fro(numbers);
			to_neighbours(numbers);
		}
		sum += gotten[0];
	}
	return sum;
}

static double collectives(void)
{
	double sum = 0;

	for (int numbers = 1; numbers <= 8192; numbers *= 8) {
		for (int i = 0; i < 1 + 512 / numbers; i++) {
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Bcast(sent, numbers, MPI_DOUBLE, 0, MPI_COMM_WORLD);
			MPI_Allreduce(sent, gotten, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
			MPI_Alltoall(sent, numbers / ranks + 1, MPI_DOUBLE, gotten, numbers / ranks + 1, MPI_DOUBLE,
			             MPI_COMM_WORLD);
		}
		sum += gotten[0];
	}
	return sum;
}

int main(int argc, char **argv)
{
	long arguments[2], *memory, one = 1;
	double sum = 0;
	MPI_Win win;

	begin(argc, argv, "WHAT ROUNDS", 2, arguments);
	memory = window_of(sizeof(*memory), sizeof(*memory), &win);
	MPI_Win_fence(0, win);
	MPI_Put(&one, 1, MPI_LONG, (rank + 1) % ranks, 0, 1, MPI_LONG, win);
	MPI_Win_fence(0, win);
	sent = malloc(2 * MOST * sizeof(*sent));
	gotten = malloc(2 * MOST * sizeof(*gotten));
	for (int i = 0; i < 2 * MOST; i++)
		sent[i] = rank + i;
	for (long round = 0; round < arguments[1]; round++)
		sum += arguments[0] == MESSAGES ? messages() : collectives();
	sum += (double)memory[0];
	MPI_Win_free(&win);
	return end_with("sum", sum);
}
