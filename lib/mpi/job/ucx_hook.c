// SPDX-License-Identifier: BSD-2-Clause
/*
 * ucx_hook.c - a hook in UCX's progress function, by which MPICH's waits serve Oriel (progress.h)
 *
 * The layer precedes UCX in symbol order, so the MPI's calls of this function come here and are
 * passed on.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#include "mpi/job/progress.h"

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
