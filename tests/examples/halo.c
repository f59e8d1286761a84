// SPDX-License-Identifier: BSD-2-Clause
/*
 * halo.c - heat in a rod, with halo exchange by post, start, complete and wait
 *
 * Each rank has a piece of the rod, with a halo cell at either end. The left end of the rod is kept
 * at 100 degrees and the right end at 0, so the temperature becomes a straight line.
 */
#include <math.h>
#include <string.h>
#include "check.h"

#define CELLS 4 /* of each rank, without the halo */
#define STEPS 2000

struct rod {
	int rank, size;
	double *cell; /* cell[0] and cell[CELLS + 1] are the halo */
	oriel_win *win;
	oriel_group *neighbours;
};

/* The ranks on either side: two, or one at an end of the rod. A job of one rank has none. */
static void find_neighbours(struct rod *rod, const oriel_group *world)
{
	int ranks[2], count = 0;

	if (rod->rank > 0)
		ranks[count++] = rod->rank - 1;
	if (rod->rank < rod->size - 1)
		ranks[count++] = rod->rank + 1;
	CHECK(oriel_group_incl(world, count, ranks, &rod->neighbours));
}

/* Puts the outermost cells into the neighbours' halos, and waits until theirs have arrived here. */
static void exchange(const struct rod *rod)
{
	const double *cell = rod->cell;

	CHECK(oriel_win_post(rod->win, rod->neighbours, 0));  /* my halo may be written */
	CHECK(oriel_win_start(rod->win, rod->neighbours, 0)); /* I write to theirs */
	if (rod->rank > 0)
		CHECK(oriel_put(rod->win, &cell[1], sizeof(double), rod->rank - 1, CELLS + 1));
	if (rod->rank < rod->size - 1)
		CHECK(oriel_put(rod->win, &cell[CELLS], sizeof(double), rod->rank + 1, 0));
	CHECK(oriel_win_complete(rod->win)); /* my puts are done: I may change my cells */
	CHECK(oriel_win_wait(rod->win));     /* theirs have arrived: I may read my halo */
}

static void step(const struct rod *rod)
{
	double next[CELLS];

	exchange(rod);
	for (int i = 1; i <= CELLS; i++)
		next[i - 1] = (rod->cell[i - 1] + rod->cell[i + 1]) / 2;
	memcpy(&rod->cell[1], next, sizeof(next));
}

/* How far this rank's cells are from the straight line. */
static double error(const struct rod *rod)
{
	double worst = 0;

	for (int i = 1; i <= CELLS; i++)
		worst = fmax(worst, fabs(rod->cell[i] - 100 * (1 - (rod->rank * CELLS + i) / (rod->size * CELLS + 1.))));
	return worst;
}

int main(int argc, char **argv)
{
	struct rod rod;
	oriel_job *job;
	oriel_group *world;
	void *memory;
	double worst;

	usage(argc, argv, "oriel-run -n 4 ./halo");
	CHECK(oriel_init(NULL, &job));
	rod.rank = CHECK(oriel_rank(job));
	rod.size = CHECK(oriel_size(job));
	CHECK(oriel_group_world(job, &world));
	find_neighbours(&rod, world);
	CHECK(oriel_win_allocate((CELLS + 2) * sizeof(double), sizeof(double), NULL, world, &memory, &rod.win));
	rod.cell = memory; /* zeros */
	if (rod.rank == 0)
		rod.cell[0] = 100;

	for (int i = 0; i < STEPS; i++)
		step(&rod);
	worst = error(&rod);
	printf("rank %d: %.2f to %.2f\n", rod.rank, rod.cell[1], rod.cell[CELLS]);

	CHECK(oriel_win_free(&rod.win));
	CHECK(oriel_group_free(&rod.neighbours));
	CHECK(oriel_group_free(&world));
	CHECK(oriel_finalize(&job));
	return worst < 1e-6 ? 0 : 1;
}
