// SPDX-License-Identifier: BSD-2-Clause
/*
 * wavefront.c - a wave that crosses a grid from rank to rank, as synch_p2p of the Parallel Research
 * Kernels
 *
 * usage: wavefront WAY COLUMNS ROWS ROUNDS
 *
 * A number is its left plus its upper neighbour less the one between them. Each rank has some
 * columns, and for each row needs the last number of the previous rank: one put of 8 bytes and one
 * synchronisation. WAY 1: post, start, complete and wait; WAY 2: put, flush, and an accumulate of a
 * flag that the target polls. The last number returns to the first rank, negated, so that a round
 * adds COLUMNS + ROWS - 2 to it.
 */
#include <stdlib.h>

#include "apps/apps.h"

enum { EPOCHS = 1, FLAGS = 2 };

static long way, columns, rows, first, width;
static double *grid;   /* rows of width + 1 numbers, the first from the previous rank */
static double *window; /* a number for each row of the previous rank; [0]: the last rank's corner */
static long *flags;    /* as many counts of rounds */
static MPI_Win win, flags_win;
static MPI_Group before, behind; /* the rank that puts to this one, and its target */

static double *row_of(long row)
{
	return grid + row * (width + 1) + 1;
}

static void await_flag(long row, long round)
{
	long seen = 0;

	while (seen < round) {
		MPI_Fetch_and_op(NULL, &seen, MPI_LONG, rank, row, MPI_NO_OP, flags_win);
		MPI_Win_flush(rank, flags_win);
	}
	MPI_Win_sync(win);
}

static double receive(long row, long round)
{
	if (way == EPOCHS) {
		MPI_Win_post(before, 0, win);
		MPI_Win_wait(win);
	} else {
		await_flag(row, round);
	}
	return window[row];
}

static void send(const double *number, int to, long row, long round)
{
	if (way == EPOCHS)
		MPI_Win_start(behind, 0, win);
	MPI_Put(number, 1, MPI_DOUBLE, to, row, 1, MPI_DOUBLE, win);
	if (way == EPOCHS) {
		MPI_Win_complete(win);
		return;
	}
	MPI_Win_flush(to, win);
	MPI_Accumulate(&round, 1, MPI_LONG, to, row, 1, MPI_LONG, MPI_REPLACE, flags_win);
	MPI_Win_flush(to, flags_win);
}

static void compute_row(double *row, const double *above)
{
	for (long j = first == 0 ? 1 : 0; j < width; j++)
		row[j] = row[j - 1] + above[j] - above[j - 1];
}

static void cross(long round)
{
	for (long i = 1; i < rows; i++) {
		if (rank > 0)
			row_of(i)[-1] = receive(i, round);
		compute_row(row_of(i), row_of(i - 1));
		if (rank < ranks - 1)
			send(&row_of(i)[width - 1], rank + 1, i, round);
	}
}

/* Sends the last rank's corner to the first rank. A single rank puts nothing. */
static void go_back(long round)
{
	double corner = -row_of(rows - 1)[width - 1];

	if (ranks > 1 && rank == ranks - 1)
		send(&corner, 0, 0, round);
	if (rank == 0)
		row_of(0)[0] = ranks > 1 ? receive(0, round) : corner;
}

static MPI_Group group_of(int member)
{
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &member, &group);
	MPI_Group_free(&world);
	return group;
}

static void make(void)
{
	first = columns * rank / ranks;
	width = columns * (rank + 1) / ranks - first;
	grid = calloc((size_t)(rows * (width + 1)), sizeof(*grid));
	for (long i = 0; i < rows && first == 0; i++)
		row_of(i)[0] = (double)i;
	for (long j = first == 0 ? 0 : -1; j < width; j++)
		row_of(0)[j] = (double)(first + j);
	before = group_of((rank + ranks - 1) % ranks);
	behind = group_of((rank + 1) % ranks);
	window = window_of(rows * (long)sizeof(*window), sizeof(*window), &win);
	flags = window_of(rows * (long)sizeof(*flags), sizeof(*flags), &flags_win);
}

int main(int argc, char **argv)
{
	long arguments[4];

	begin(argc, argv, "WAY COLUMNS ROWS ROUNDS", 4, arguments);
	way = arguments[0], columns = arguments[1], rows = arguments[2];
	make();
	if (way == FLAGS) {
		MPI_Win_lock_all(0, win);
		MPI_Win_lock_all(0, flags_win);
	}
	for (long round = 1; round <= arguments[3]; round++) {
		cross(round);
		go_back(round);
	}
	if (way == FLAGS) {
		MPI_Win_unlock_all(flags_win);
		MPI_Win_unlock_all(win);
	}
	MPI_Group_free(&before);
	MPI_Group_free(&behind);
	MPI_Win_free(&win);
	MPI_Win_free(&flags_win);
	return end_with("corner", rank == ranks - 1 ? row_of(rows - 1)[width - 1] : 0);
}
