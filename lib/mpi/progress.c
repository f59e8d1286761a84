// SPDX-License-Identifier: BSD-2-Clause
/* progress.c - see progress.h. */
#include "mpi/progress.h"

#include <stddef.h>

#include "mpi/calls.h"

static MPI_Request never;
static int opened;

static int query(void *state, MPI_Status *status)
{
	(void)state;
	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	return MPI_SUCCESS;
}

static int nothing(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state, (void)complete;
	return MPI_SUCCESS;
}

void progress_open(void)
{
	opened = PMPI_Grequest_start(query, nothing, cancel, NULL, &never) == MPI_SUCCESS;
}

void progress_close(void)
{
	if (!opened)
		return;
	opened = 0;
	PMPI_Grequest_complete(never);
	own.Wait(&never, MPI_STATUS_IGNORE);
}

void progress_idle(void *context)
{
	MPI_Request request = never; /* each thread asks for itself */
	int flag;

	(void)context;
	if (opened)
		own.Test(&request, &flag, MPI_STATUS_IGNORE);
}
