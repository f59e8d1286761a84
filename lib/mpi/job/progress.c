// SPDX-License-Identifier: BSD-2-Clause
/* See progress.h. */
#include "mpi/job/progress.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/job/job.h"
#include "mpi/job/real_mpi.h"

enum { EACH = 4 }; /* turns, so that the MPI's own polling stays fast */

static MPI_Request never;
static int opened;
static bool serving; /* true in the process that has the job; changes only while no thread waits */

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

int progress_serve(void)
{
	static _Thread_local unsigned turns __attribute__((tls_model("initial-exec")));

	if (++turns % EACH == 0 && serving)
		oriel_progress(job.oriel);
	return 0;
}

/* A forked child has no job. */
static void disown(void)
{
	serving = false;
}

/* Adds progress_serve to the MPI's list if it has one, or removes it. */
static void enlist(const char *name)
{
	int (*change)(int (*turn)(void));

	*(void **)&change = dlsym(RTLD_DEFAULT, name);
	if (change)
		change(progress_serve);
}

void progress_open(void)
{
	pthread_atfork(NULL, NULL, disown);
	serving = true;
	enlist("opal_progress_register");
	opened = PMPI_Grequest_start(query, nothing, cancel, NULL, &never) == MPI_SUCCESS;
}

void progress_unlist(void)
{
	enlist("opal_progress_unregister");
	serving = false;
}

void progress_close(void)
{
	if (!opened)
		return;
	opened = 0;
	PMPI_Grequest_complete(never);
	real_mpi.Wait(&never, MPI_STATUS_IGNORE);
}

void progress_idle(void *context)
{
	MPI_Request request = never; /* MPI_Test may overwrite the handle */
	int flag;

	(void)context;
	if (opened)
		real_mpi.Test(&request, &flag, MPI_STATUS_IGNORE);
}

/*
 * a hook in UCX's progress function, by which MPICH's waits serve Oriel (progress.h): the layer
 * precedes UCX in symbol order
 */

#ifndef OPEN_MPI

/* The type in <ucp/api/ucp.h>, which need not be installed. It returns nonzero after progress. */
typedef unsigned progress_fn(void *worker);

__attribute__((visibility("default"))) progress_fn ucp_worker_progress;

static progress_fn *of_ucx;

/* Threads may race here: all find the same function. */
static progress_fn *find(void)
{
	progress_fn *found = __atomic_load_n(&of_ucx, __ATOMIC_RELAXED);

	if (!found) {
		*(void **)&found = dlsym(RTLD_NEXT, "ucp_worker_progress");
		__atomic_store_n(&of_ucx, found, __ATOMIC_RELAXED);
	}
	return found;
}

unsigned ucp_worker_progress(void *worker)
{
	progress_fn *progress = find();

	progress_serve();
	return progress ? progress(worker) : 0;
}

#endif
