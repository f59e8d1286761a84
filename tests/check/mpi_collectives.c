// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_collectives.c - each collective call in each form, between each pair of ranks
 *
 * One rank puts to rank 3 and flushes, all make the call, and another rank puts to the same bytes.
 * The two race if no data flows from the one to the other. The window of each has a name, such as
 * "bcast blocking 1 to 2". Rank 0 prints "NAME races" where there is a race.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define PERSISTENT_FORM(name) MPIX_##name##_init
#else
#define PERSISTENT_FORM(name) MPI_##name##_init
#endif

#define RANKS 4
#define ROOT 1

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum flow { ALL, FROM_ROOT, TO_ROOT, UPWARDS, NEIGHBORS };

static const char *const form_names[FORMS] = { "blocking", "nonblocking", "persistent" };
static int from[RANKS], to[RANKS];
static const int counts[RANKS] = { 1, 1, 1, 1 }, places[RANKS] = { 0, 1, 2, 3 }, bytes[RANKS] = { 0, 4, 8, 12 };
static const MPI_Aint addresses[RANKS] = { 0, 4, 8, 12 };
static MPI_Datatype types[RANKS];
static MPI_Comm row; /* of neighbours */
static MPI_Win win;
static int rank;

/* Begins the call in one of its forms. */
#define BEGIN(lower, upper, ...)                                         \
	do {                                                                 \
		if (form == BLOCKING)                                            \
			MPI_##upper(__VA_ARGS__);                                    \
		if (form == NONBLOCKING)                                         \
			MPI_I##lower(__VA_ARGS__, request);                          \
		if (form == PERSISTENT)                                          \
			PERSISTENT_FORM(upper)(__VA_ARGS__, MPI_INFO_NULL, request); \
	} while (0)

static void barrier(enum form form, MPI_Request *request)
{
	BEGIN(barrier, Barrier, MPI_COMM_WORLD);
}

static void bcast(enum form form, MPI_Request *request)
{
	BEGIN(bcast, Bcast, from, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
}

static void gather(enum form form, MPI_Request *request)
{
	BEGIN(gather, Gather, from, 1, MPI_INT, to, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
}

static void gatherv(enum form form, MPI_Request *request)
{
	BEGIN(gatherv, Gatherv, from, 1, MPI_INT, to, counts, places, MPI_INT, ROOT, MPI_COMM_WORLD);
}

static void scatter(enum form form, MPI_Request *request)
{
	BEGIN(scatter, Scatter, from, 1, MPI_INT, to, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
}

static void scatterv(enum form form, MPI_Request *request)
{
	BEGIN(scatterv, Scatterv, from, counts, places, MPI_INT, to, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
}

static void allgather(enum form form, MPI_Request *request)
{
	BEGIN(allgather, Allgather, from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD);
}

static void allgatherv(enum form form, MPI_Request *request)
{
	BEGIN(allgatherv, Allgatherv, from, 1, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void alltoall(enum form form, MPI_Request *request)
{
	BEGIN(alltoall, Alltoall, from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD);
}

static void alltoallv(enum form form, MPI_Request *request)
{
	BEGIN(alltoallv, Alltoallv, from, counts, places, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void alltoallw(enum form form, MPI_Request *request)
{
	BEGIN(alltoallw, Alltoallw, from, counts, bytes, types, to, counts, bytes, types, MPI_COMM_WORLD);
}

static void reduce(enum form form, MPI_Request *request)
{
	BEGIN(reduce, Reduce, from, to, 1, MPI_INT, MPI_SUM, ROOT, MPI_COMM_WORLD);
}

static void allreduce(enum form form, MPI_Request *request)
{
	BEGIN(allreduce, Allreduce, from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_scatter(enum form form, MPI_Request *request)
{
	BEGIN(reduce_scatter, Reduce_scatter, from, to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_scatter_block(enum form form, MPI_Request *request)
{
	BEGIN(reduce_scatter_block, Reduce_scatter_block, from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void scan(enum form form, MPI_Request *request)
{
	BEGIN(scan, Scan, from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void exscan(enum form form, MPI_Request *request)
{
	BEGIN(exscan, Exscan, from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void neighbor_allgather(enum form form, MPI_Request *request)
{
	BEGIN(neighbor_allgather, Neighbor_allgather, from, 1, MPI_INT, to, 1, MPI_INT, row);
}

static void neighbor_allgatherv(enum form form, MPI_Request *request)
{
	BEGIN(neighbor_allgatherv, Neighbor_allgatherv, from, 1, MPI_INT, to, counts, places, MPI_INT, row);
}

static void neighbor_alltoall(enum form form, MPI_Request *request)
{
	BEGIN(neighbor_alltoall, Neighbor_alltoall, from, 1, MPI_INT, to, 1, MPI_INT, row);
}

static void neighbor_alltoallv(enum form form, MPI_Request *request)
{
	BEGIN(neighbor_alltoallv, Neighbor_alltoallv, from, counts, places, MPI_INT, to, counts, places, MPI_INT, row);
}

static void neighbor_alltoallw(enum form form, MPI_Request *request)
{
	BEGIN(neighbor_alltoallw, Neighbor_alltoallw, from, counts, addresses, types, to, counts, addresses, types, row);
}

static const struct call {
	const char *name;
	enum flow flow;
	void (*begin)(enum form form, MPI_Request *request);
} calls[] = {
	{ "barrier", ALL, barrier },
	{ "bcast", FROM_ROOT, bcast },
	{ "gather", TO_ROOT, gather },
	{ "gatherv", TO_ROOT, gatherv },
	{ "scatter", FROM_ROOT, scatter },
	{ "scatterv", FROM_ROOT, scatterv },
	{ "allgather", ALL, allgather },
	{ "allgatherv", ALL, allgatherv },
	{ "alltoall", ALL, alltoall },
	{ "alltoallv", ALL, alltoallv },
	{ "alltoallw", ALL, alltoallw },
	{ "reduce", TO_ROOT, reduce },
	{ "allreduce", ALL, allreduce },
	{ "reduce_scatter", ALL, reduce_scatter },
	{ "reduce_scatter_block", ALL, reduce_scatter_block },
	{ "scan", UPWARDS, scan },
	{ "exscan", UPWARDS, exscan },
	{ "neighbor_allgather", NEIGHBORS, neighbor_allgather },
	{ "neighbor_allgatherv", NEIGHBORS, neighbor_allgatherv },
	{ "neighbor_alltoall", NEIGHBORS, neighbor_alltoall },
	{ "neighbor_alltoallv", NEIGHBORS, neighbor_alltoallv },
	{ "neighbor_alltoallw", NEIGHBORS, neighbor_alltoallw },
};

static bool flows(enum flow flow, int first, int second)
{
	if (flow == FROM_ROOT)
		return first == ROOT;
	if (flow == TO_ROOT)
		return second == ROOT;
	if (flow == UPWARDS)
		return first < second;
	return flow == ALL || first == second + 1 || second == first + 1;
}

static void put_if(bool is_it)
{
	static uint8_t buffer[8];

	if (!is_it)
		return;
	MPI_Put(buffer, 8, MPI_BYTE, 3, 0, 8, MPI_BYTE, win);
	MPI_Win_flush(3, win);
}

static void make(const struct call *call, enum form form)
{
	MPI_Request request = MPI_REQUEST_NULL;

	call->begin(form, &request);
	if (form == PERSISTENT)
		MPI_Start(&request);
	if (form != BLOCKING)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (form == PERSISTENT)
		MPI_Request_free(&request);
}

static void try(const struct call *call, enum form form, int first, int second)
{
	char name[64];
	void *base;

	snprintf(name, sizeof(name), "%s %s %d to %d", call->name, form_names[form], first, second);
	MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, name);
	MPI_Win_lock_all(0, win);
	put_if(rank == first);
	make(call, form);
	put_if(rank == second);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	if (rank == 0 && !flows(call->flow, first, second))
		printf("%s races\n", name);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Cart_create(MPI_COMM_WORLD, 1, (const int[]){ RANKS }, (const int[]){ 0 }, 0, &row);
	for (int i = 0; i < RANKS; i++)
		types[i] = MPI_INT;
	for (size_t i = 0; i < FORMS * sizeof(calls) / sizeof(calls[0]); i++) {
		for (int pair = 0; pair < RANKS * RANKS; pair++) {
			if (pair / RANKS != pair % RANKS)
				try(&calls[i / FORMS], (enum form)(i % FORMS), pair / RANKS, pair % RANKS);
		}
	}
	MPI_Comm_free(&row);
	MPI_Finalize();
	return 0;
}
