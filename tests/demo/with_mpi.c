// SPDX-License-Identifier: BSD-2-Clause
/*
 * with_mpi.c - MPI for messages, Oriel for one-sided data, in one program
 *
 * Each rank draws a number of particles, which nobody else knows, and hands them to its right
 * neighbour. The numbers go by MPI, as messages do; the particles themselves Oriel puts to where the
 * neighbour, who has learnt how many come, has made room. At the end MPI sums up what has arrived.
 *
 * Oriel needs nothing of the launcher here: MPI_Allgather tells the ranks of each other, and a rank has
 * the same number in both.
 *
 * usage: mpirun -n P with_mpi
 */
#include <mpi.h>
#include <oriel.h>
#include <stdio.h>
#include <stdlib.h>

struct particle {
	double x, v;
};

/* As oriel_init wants it: everybody's bytes to everybody. */
static int all_gather(void *context, const void *mine, size_t size_bytes, void *all)
{
	int count = (int)size_bytes;

	(void)context;
	return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD) == MPI_SUCCESS ? 0 : -1;
}

/* Whatever fails, the whole job ends. */
static void check(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s\n", oriel_last_error());
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static oriel_job *join(int rank, int size)
{
	struct oriel_bootstrap bootstrap = {
		.struct_bytes = sizeof(bootstrap), .rank = rank, .size = size, .exchange = all_gather
	};
	struct oriel_options options = { .struct_bytes = sizeof(options), .bootstrap = &bootstrap };
	oriel_job *job;

	check(oriel_init(&options, &job));
	return job;
}

static struct particle *draw(int rank, int count)
{
	struct particle *particles = calloc((size_t)count, sizeof(*particles));

	if (!particles)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < count; i++)
		particles[i] = (struct particle){ .x = rank + 1. / (i + 1), .v = 1 };
	return particles;
}

/* What comes from the left is put here by the left neighbour: nothing is received. */
static double pass_on(oriel_job *job, const struct particle *particles, int count, int from_left)
{
	int right = (oriel_rank(job) + 1) % oriel_size(job);
	struct particle *arrived;
	oriel_group *world;
	oriel_win *win;
	void *room;
	double sum = 0;

	check(oriel_group_world(job, &world));
	check(oriel_win_allocate((size_t)from_left * sizeof(*arrived), sizeof(*arrived), NULL, world, &room, &win));
	check(oriel_win_fence(win, ORIEL_MODE_NOPRECEDE));
	check(oriel_put(win, particles, (size_t)count * sizeof(*particles), right, 0));
	check(oriel_win_fence(win, ORIEL_MODE_NOSUCCEED));
	arrived = room;
	for (int i = 0; i < from_left; i++)
		sum += arrived[i].x;
	check(oriel_win_free(&win));
	check(oriel_group_free(&world));
	return sum;
}

static double sum_of(const struct particle *particles, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += particles[i].x;
	return sum;
}

int main(int argc, char **argv)
{
	int rank, size, count, from_left;
	double sums[2], totals[2];
	struct particle *particles;
	oriel_job *job;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	job = join(rank, size);

	count = 1000 + 7 * rank;
	particles = draw(rank, count);
	MPI_Sendrecv(&count, 1, MPI_INT, (rank + 1) % size, 0, &from_left, 1, MPI_INT, (rank + size - 1) % size, 0,
	             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sums[0] = sum_of(particles, count);
	sums[1] = pass_on(job, particles, count, from_left);
	free(particles);
	MPI_Allreduce(sums, totals, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks: the sum of all particles was %.3f and is %.3f\n", size, totals[0], totals[1]);

	check(oriel_finalize(&job));
	MPI_Finalize();
	return totals[1] - totals[0] < 1e-6 && totals[0] - totals[1] < 1e-6 ? 0 : 1;
}
