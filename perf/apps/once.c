// SPDX-License-Identifier: BSD-2-Clause
/*
 * once.c - a program that only starts and ends, or makes one window in between
 *
 * usage: once WHAT ROUNDS
 *
 * WHAT 1: no window. WHAT 2: a window, and ROUNDS puts with a fence each.
 */
#include "apps/apps.h"

enum { NO_WINDOW = 1 };

static double put_and_fence(long rounds)
{
	double one = 1, *memory, mine;
	MPI_Win win;

	memory = window_of(sizeof(*memory), sizeof(*memory), &win);
	MPI_Win_fence(0, win);
	for (long round = 0; round < rounds; round++) {
		MPI_Put(&one, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, 1, MPI_DOUBLE, win);
		MPI_Win_fence(0, win);
	}
	mine = *memory;
	MPI_Win_free(&win);
	return mine;
}

int main(int argc, char **argv)
{
	long arguments[2];

	begin(argc, argv, "WHAT ROUNDS", 2, arguments);
	return end_with("sum", arguments[0] == NO_WINDOW ? 1 : put_and_fence(arguments[1]));
}
