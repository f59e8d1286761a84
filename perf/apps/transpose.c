// SPDX-License-Identifier: BSD-2-Clause
/*
 * transpose.c - a square matrix plus another one's transpose, as in the Parallel Research Kernels
 *
 * usage: transpose ORDER ROUNDS
 *
 * Each rank has some columns of both matrices. In each phase of a round it transposes a block for
 * another rank, puts it into that rank's window, fences, and adds the received block to its own. A
 * round ends with 1 added to the matrix that is transposed. ORDER is rounded down to a multiple of
 * the ranks.
 */
#include <stdlib.h>

#include "apps/apps.h"

enum { TILE = 32 }; /* numbers; both sides of a tile fit the cache */

static long order, block;     /* rows, columns; columns of a rank */
static double *in, *out;      /* columns of `order` numbers */
static double *sent, *window; /* two blocks: one is put while the other is added */
static MPI_Win win;

static double *half(double *buffer, long phase)
{
	return buffer + phase % 2 * block * block;
}

static void transpose_tile(double *to, const double *from, long i0, long j0)
{
	for (long j = j0; j < j0 + TILE && j < block; j++)
		for (long i = i0; i < i0 + TILE && i < block; i++)
			to[i * block + j] = from[j * order + i];
}

/* Transposes the part of this rank's columns that becomes another rank's. */
static void transpose_block(double *to, int other)
{
	for (long j = 0; j < block; j += TILE)
		for (long i = 0; i < block; i += TILE)
			transpose_tile(to, in + other * block, i, j);
}

static void add_block(const double *from, int other)
{
	for (long j = 0; j < block; j++)
		for (long i = 0; i < block; i++)
			out[j * order + other * block + i] += from[j * block + i];
}

static void do_round(long round)
{
	for (int distance = 0; distance < ranks; distance++) {
		int to = (rank + distance) % ranks, from = (rank + ranks - distance) % ranks;
		long phase = round * ranks + distance;

		transpose_block(half(sent, phase), to);
		MPI_Put(half(sent, phase), (int)(block * block), MPI_DOUBLE, to, phase % 2 * block * block,
		        (int)(block * block), MPI_DOUBLE, win);
		MPI_Win_fence(0, win);
		add_block(half(window, phase), from);
	}
	for (long i = 0; i < order * block; i++)
		in[i] += 1;
}

/*
 * Returns the expected sum of the output: a rank's columns begin with the numbers of their places.
 */
static double sum_of_differences(long rounds)
{
	double sum = 0;

	for (long j = 0; j < block; j++)
		for (long i = 0; i < order; i++) {
			double begun = (double)(i * order + rank * block + j);
			double expected = (double)rounds * begun + (double)(rounds * (rounds - 1) / 2);

			sum += out[j * order + i] > expected ? out[j * order + i] - expected : expected - out[j * order + i];
		}
	return sum;
}

int main(int argc, char **argv)
{
	long arguments[2], numbers;

	begin(argc, argv, "ORDER ROUNDS", 2, arguments);
	block = arguments[0] / ranks;
	order = block * ranks;
	numbers = order * block;
	in = malloc((size_t)numbers * sizeof(*in));
	out = calloc((size_t)numbers, sizeof(*out));
	sent = malloc((size_t)(2 * block * block) * sizeof(*sent));
	for (long i = 0; i < numbers; i++)
		in[i] = (double)(rank * numbers + i);
	window = window_of(2 * block * block * (long)sizeof(*window), sizeof(*window), &win);
	MPI_Win_fence(0, win);
	for (long round = 0; round < arguments[1]; round++)
		do_round(round);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	return end_with("difference", sum_of_differences(arguments[1]));
}
