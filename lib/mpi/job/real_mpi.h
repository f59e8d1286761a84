/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * real_mpi.h - the calls of MPI that the layer takes, and the MPI's own functions
 *
 * DESIGN NOTES
 *
 * The layer is preloaded, after profiling tools. It defines each call of the list as MPI_X and as
 * PMPI_X, which Open MPI's Fortran bindings and tools call. It passes calls on via `real_mpi`, and
 * makes others by PMPI_X.
 *
 * The list alone names the taken calls; tests/mpi/layer/calls compares it with the MPI's mpi.h.
 */
#ifndef ORIEL_MPI_REAL_MPI_H
#define ORIEL_MPI_REAL_MPI_H

#include <mpi.h>

#define CALLS_OF_WINDOWS(X) \
	X(Win_create)           \
	X(Win_allocate)         \
	X(Win_allocate_shared)  \
	X(Win_create_dynamic)   \
	X(Win_free)             \
	X(Win_attach)           \
	X(Win_detach)           \
	X(Win_shared_query) X(Win_get_attr) X(Win_set_attr) X(Win_delete_attr) X(Win_get_group) X(Win_get_info) X(Win_set_info) X(Win_set_name) X(Alloc_mem) X(Free_mem)
#define CALLS_OF_OPERATIONS(X) \
	X(Put)                     \
	X(Get)                     \
	X(Accumulate)              \
	X(Get_accumulate) X(Fetch_and_op) X(Compare_and_swap) X(Rput) X(Rget) X(Raccumulate) X(Rget_accumulate)
#define CALLS_OF_EPOCHS(X) \
	X(Win_fence)           \
	X(Win_post)            \
	X(Win_start)           \
	X(Win_complete)        \
	X(Win_wait)            \
	X(Win_test)            \
	X(Win_lock)            \
	X(Win_unlock)          \
	X(Win_lock_all)        \
	X(Win_unlock_all) X(Win_flush) X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Win_sync)
#define CALLS_OF_REQUESTS(X) \
	X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) X(Request_get_status) X(Request_free)

/* Since MPI-4.1. */
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAS_STATUS_OF_MANY 1
#define CALLS_OF_MANY_REQUESTS(X) X(Request_get_status_all) X(Request_get_status_any) X(Request_get_status_some)
#else
#define HAS_STATUS_OF_MANY 0
#define CALLS_OF_MANY_REQUESTS(X)
#endif

#define CALLS_OF_THE_JOB(X) X(Init) X(Init_thread) X(Error_string) X(Group_free)

/* Forms for large counts (MPI-4). */
#if MPI_VERSION >= 4
#define CALLS_LARGE(X)       \
	X(Win_create_c)          \
	X(Win_allocate_c)        \
	X(Win_allocate_shared_c) \
	X(Win_shared_query_c)    \
	X(Put_c) X(Get_c) X(Accumulate_c) X(Get_accumulate_c) X(Rput_c) X(Rget_c) X(Raccumulate_c) X(Rget_accumulate_c)
#else
#define CALLS_LARGE(X)
#endif

#define CALLS(X)        \
	CALLS_OF_THE_JOB(X) \
	CALLS_OF_WINDOWS(X) CALLS_OF_OPERATIONS(X) CALLS_OF_EPOCHS(X) CALLS_OF_REQUESTS(X) CALLS_OF_MANY_REQUESTS(X) CALLS_LARGE(X)

struct real_mpi {
#define X(name) __typeof__(MPI_##name) *name;
	CALLS(X)
#undef X
};

extern struct real_mpi real_mpi;

/* Follows the definition of MPI_X: makes PMPI_X an alias. */
#define TAKEN(name) \
	extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name), visibility("default")))

/*
 * Returns the file of a profiling tool that the program is linked with, or NULL. It comes after
 * this library, so taken calls do not reach it. Must not be called if the process has two MPIs.
 */
const char *real_mpi_bypassed_tool(void);

/*
 * If the process has another MPI than this layer's, fills `real_mpi` from it and returns its name;
 * else NULL. Called in MPI_Init: a module may load it late.
 */
const char *real_mpi_use_other(void);

/* Returns whether other calls go to that MPI too: not if a module has loaded it. */
int real_mpi_reaches(const char *library);

#endif
