// SPDX-License-Identifier: BSD-2-Clause
/*
 * stencil.c - a star-shaped stencil on a square grid, as in the Parallel Research Kernels
 *
 * usage: stencil SIDE ROUNDS
 *
 * The grid of SIDE x SIDE numbers is divided into one tile for each rank. In each round a rank puts
 * its tile's edges into its neighbours' windows, fences, adds a weighted sum of the input in a star
 * of radius 2 to each output, and adds 1 to its input. The input begins as a plane, so that a round
 * adds exactly 2 to each number whose star lies in the grid.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"

enum { RADIUS = 2, SIDES = 4 }; /* sides: low, high of dimension 0, then of dimension 1 */

static int place[2], ranks_of[2], neighbours[SIDES], first[2], width[2];
static long slot; /* size of the longest edge of all ranks */
static double *in, *out, *edges[SIDES], *halo;
static MPI_Win win;

static double *at(double *grid, int i, int j)
{
	return grid + (i + RADIUS) * (long)(width[1] + 2 * RADIUS) + j + RADIUS;
}

static int edge_numbers(int side)
{
	return RADIUS * width[1 - side / 2];
}

/*
 * Returns the place of a side's numbers in each rank's window. Rounds alternate between two sets:
 * neighbours read one while the other is put.
 */
static long halo_place(long round, int side)
{
	return (round % 2 * SIDES + side) * slot;
}

/* Copies an edge of the tile, or the numbers beyond it, to or from a buffer. */
static void copy_edge(int side, int beyond, double *buffer, int to_grid)
{
	int dim = side / 2, from = side % 2 ? width[dim] - (beyond ? 0 : RADIUS) : beyond ? -RADIUS : 0;

	for (int k = from; k < from + RADIUS; k++)
		for (int m = 0; m < width[1 - dim]; m++) {
			double *number = dim == 0 ? at(in, k, m) : at(in, m, k);

			if (to_grid)
				*number = *buffer++;
			else
				*buffer++ = *number;
		}
}

static void exchange(long round)
{
	for (int side = 0; side < SIDES; side++) {
		if (neighbours[side] == MPI_PROC_NULL)
			continue;
		copy_edge(side, 0, edges[side], 0);
		MPI_Put(edges[side], edge_numbers(side), MPI_DOUBLE, neighbours[side], halo_place(round, side ^ 1),
		        edge_numbers(side), MPI_DOUBLE, win);
	}
	MPI_Win_fence(0, win);
	for (int side = 0; side < SIDES; side++)
		if (neighbours[side] != MPI_PROC_NULL)
			copy_edge(side, 1, halo + halo_place(round, side), 1);
}

/* Returns the part of a dimension whose stars lie in the grid. */
static void inner(int dim, long grid, int *low, int *high)
{
	*low = first[dim] < RADIUS ? RADIUS - first[dim] : 0;
	*high = first[dim] + width[dim] > grid - RADIUS ? (int)(grid - RADIUS - first[dim]) : width[dim];
}

static void compute(long grid)
{
	const double near = 1.0 / (2 * RADIUS), far = 1.0 / (4 * RADIUS);
	long row = width[1] + 2 * RADIUS;
	int low[2], high[2];

	inner(0, grid, &low[0], &high[0]);
	inner(1, grid, &low[1], &high[1]);
	for (int i = low[0]; i < high[0]; i++)
		for (int j = low[1]; j < high[1]; j++) {
			double *x = at(in, i, j);

			*at(out, i, j) +=
				near * (x[1] - x[-1] + x[row] - x[-row]) + far * (x[2] - x[-2] + x[2 * row] - x[-2 * row]);
		}
	for (int i = 0; i < width[0]; i++)
		for (int j = 0; j < width[1]; j++)
			*at(in, i, j) += 1;
}

static void divide(long grid)
{
	MPI_Comm cart;

	MPI_Dims_create(ranks, 2, ranks_of);
	MPI_Cart_create(MPI_COMM_WORLD, 2, ranks_of, (int[]){ 0, 0 }, 0, &cart);
	MPI_Cart_coords(cart, rank, 2, place);
	for (int dim = 0; dim < 2; dim++) {
		MPI_Cart_shift(cart, dim, 1, &neighbours[2 * dim], &neighbours[2 * dim + 1]);
		first[dim] = (int)(grid * place[dim] / ranks_of[dim]);
		width[dim] = (int)(grid * (place[dim] + 1) / ranks_of[dim]) - first[dim];
		slot = slot > RADIUS * (grid / ranks_of[dim] + 1) ? slot : RADIUS * (grid / ranks_of[dim] + 1);
	}
	MPI_Comm_free(&cart);
}

static void make_grid(void)
{
	size_t numbers = (size_t)(width[0] + 2 * RADIUS) * (size_t)(width[1] + 2 * RADIUS);

	in = calloc(numbers, sizeof(*in));
	out = calloc(numbers, sizeof(*out));
	for (int side = 0; side < SIDES; side++)
		edges[side] = malloc((size_t)edge_numbers(side) * sizeof(**edges));
	for (int i = 0; i < width[0]; i++)
		for (int j = 0; j < width[1]; j++)
			*at(in, i, j) = first[0] + i + first[1] + j;
}

static double sum_of_output(void)
{
	double sum = 0;

	for (int i = 0; i < width[0]; i++)
		for (int j = 0; j < width[1]; j++)
			sum += *at(out, i, j);
	return sum;
}

int main(int argc, char **argv)
{
	long arguments[2], grid;

	begin(argc, argv, "SIDE ROUNDS", 2, arguments);
	grid = arguments[0];
	divide(grid);
	make_grid();
	halo = window_of(2 * SIDES * slot * (long)sizeof(*halo), sizeof(*halo), &win);
	MPI_Win_fence(0, win);
	for (long round = 0; round < arguments[1]; round++) {
		exchange(round);
		compute(grid);
	}
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	return end_with("mean", sum_of_output() / (double)((grid - 2 * RADIUS) * (grid - 2 * RADIUS)));
}
