// SPDX-License-Identifier: BSD-2-Clause
/*
 * turns_of_ucx.c - what UCX's progress is called by, the layer is called by too: see progress.h
 *
 * The layer is before UCX in the order of libraries, so the MPI's calls of this function come here and are passed on. Where
 * nobody uses UCX nobody comes. Open MPI has its list, whether it uses UCX or not.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#include "mpi/progress.h"

#ifndef OPEN_MPI

/* As <ucp/api/ucp.h> declares it, which is not there where only the MPI's library is; of what it moves is how much. */
typedef unsigned progress_fn(void *worker);

__attribute__((visibility("default"))) progress_fn ucp_worker_progress;

static progress_fn *of_ucx;

/* Several threads may find the same. */
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
