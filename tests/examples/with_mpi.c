// SPDX-License-Identifier: BSD-2-Clause
/*
 * with_mpi.c - MPI for messages, Oriel for one-sided data, in one program
 *
 * Each rank has a number of particles that the others do not know, and hands them to its right
 * neighbour: the number via MPI, the particles by an oriel_put into room that the neighbour has made.
 *
 * usage: mpirun -n P with_mpi
 */
#include <mpi.h>
#include "check.h"

struct particle {
	double x, v;
};

/* What oriel_init needs from MPI: the bytes of every rank, on every rank. */
static int all_gather(void *context, const void *mine, size_t size_bytes, void *all)
{
	int count = (int)size_bytes;

	(void)context;
	return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS;
}

/* Ranks have the same numbers in both libraries. */
static oriel_job *join(int rank, int size)
{
	struct oriel_bootstrap bootstrap = {
		.struct_bytes = sizeof(bootstrap), .rank = rank, .size = size, .exchange = all_gather
	};
	struct oriel_options options = { .struct_bytes = sizeof(options), .bootstrap = &bootstrap };
	oriel_job *job;

	CHECK(oriel_init(&options, &job));
	return job;
}

static double sum_of(const struct particle *particles, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += particles[i].x;
	return sum;
}

/* Gives the particles to rank `right`, and returns the sum of the `incoming` ones from the left. */
static double hand_over(oriel_job *job, const struct particle *particles, int count, int right, int incoming)
{
	oriel_group *world;
	oriel_win *win;
	void *room;
	double sum;

	CHECK(oriel_group_world(job, &world));
	CHECK(oriel_win_allocate((size_t)incoming * sizeof(*particles), 1, NULL, world, &room, &win));
	CHECK(oriel_win_fence(win, ORIEL_MODE_NOPRECEDE));
	CHECK(oriel_put(win, particles, (size_t)count * sizeof(*particles), right, 0));
	CHECK(oriel_win_fence(win, ORIEL_MODE_NOSUCCEED));
	sum = sum_of(room, incoming);
	CHECK(oriel_win_free(&win));
	CHECK(oriel_group_free(&world));
	return sum;
}

int main(int argc, char **argv)
{
	static struct particle particles[2000];
	int rank, size, count, incoming;
	double sums[2], totals[2];
	oriel_job *job;

	usage(argc, argv, "mpirun -n 2 ./with_mpi");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	job = join(rank, size);

	count = 1000 + 7 * (rank % 100);
	for (int i = 0; i < count; i++)
		particles[i] = (struct particle){ .x = rank + 1. / (i + 1), .v = 1 };
	MPI_Sendrecv(&count, 1, MPI_INT, (rank + 1) % size, 0, &incoming, 1, MPI_INT, (rank + size - 1) % size, 0,
	             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sums[0] = sum_of(particles, count);
	sums[1] = hand_over(job, particles, count, (rank + 1) % size, incoming);
	MPI_Allreduce(sums, totals, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks: the sum of all particles was %.3f and is %.3f\n", size, totals[0], totals[1]);

	CHECK(oriel_finalize(&job));
	MPI_Finalize();
	return totals[1] - totals[0] < 1e-6 && totals[0] - totals[1] < 1e-6 ? 0 : 1;
}
