// SPDX-License-Identifier: BSD-2-Clause
/* See job.h. */
#include "mpi/job/job.h"

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "mpi/job/real_mpi.h"

#define WATCHDOG_SECONDS 30.0

/*
 * Returns the watchdog's time (ORIEL_WATCHDOG), or 0: never. The library refuses a value that is no
 * number.
 */
static double watchdog_seconds(void)
{
	const char *text = getenv("ORIEL_WATCHDOG");
	char *end;
	double seconds = text ? strtod(text, &end) : WATCHDOG_SECONDS;

	return text && (end == text || *end || seconds < 0) ? WATCHDOG_SECONDS : seconds;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/*
 * Waits, and returns whether the call has succeeded. Warns once if the wait is long, and if the
 * call fails, as it does if another rank makes another collective call.
 */
static bool await(MPI_Request request)
{
	const double limit = watchdog_seconds(), begun = seconds_now();
	bool warned = limit == 0;
	int done = 0;

	while (real_mpi.Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
		sched_yield();
		if (warned || seconds_now() - begun < limit)
			continue;
		warned = true;
		job_warn(
			"it has been waiting in MPI_Init for %g s for the other ranks: do all ranks of the job run under oriel-mpi?",
			limit);
	}
	if (!done)
		job_warn("a collective call in MPI_Init has failed: do all ranks of the job run under oriel-mpi?");
	return done;
}

/*
 * Gathers on rank 0 and broadcasts: in Open MPI's MPI_Iallgather each rank connects to each other
 * rank.
 */
void collective_allgather(const void *mine, int size_bytes, void *all)
{
	MPI_Request request;
	int ranks;

	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (PMPI_Igather(mine, size_bytes, MPI_BYTE, all, size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS &&
	    await(request) &&
	    PMPI_Ibcast(all, size_bytes * ranks, MPI_BYTE, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
		await(request);
}

int collective_min(int mine)
{
	MPI_Request request;
	int least = mine;

	if (PMPI_Iallreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
		await(request);
	return least;
}
