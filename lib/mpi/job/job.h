/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.h - Oriel's job, which an MPI program has from MPI_Init to MPI_Finalize
 *
 * DESIGN NOTES
 *
 * The job has the ranks of MPI_COMM_WORLD. All ranks exchange their values (oriel_bootstrap) once,
 * during MPI_Init (rank_table.h), since the service thread must not call MPI. Either all ranks have
 * a job or none.
 *
 * The job ends with MPI_COMM_SELF: MPI_Finalize first deletes its attributes, the last set first.
 * So the program's own callbacks there can still free windows.
 */
#ifndef ORIEL_MPI_JOB_H
#define ORIEL_MPI_JOB_H

#include <mpi.h>
#include <stdbool.h>

#include "oriel.h"

struct job {
	oriel_job *oriel; /* NULL: the layer does nothing */
	oriel_group *world;
	MPI_Group mpi_world;
	MPI_Comm self; /* a duplicate of MPI_COMM_SELF; its errors return */
	int rank;      /* of MPI_COMM_WORLD, or -1 */
	int local_size; /* ranks on this machine */
	bool begun;    /* MPI_Init has been called */
};

extern struct job job;

/* Returns an error text of Oriel's without its rank. */
const char *job_without_rank(const char *text);

/* Print a line to stderr; job_tell only if ORIEL_MPI_VERBOSE is 1. */
void job_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void job_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program when its launcher has printed stderr, which it would lose. */
void job_abort(MPI_Comm comm, int code);

/*
 * Collective calls over MPI_COMM_WORLD that yield the processor
 *
 * DESIGN NOTES
 *
 * MPICH spins in its own, so that oversubscribed steps take long. These yield after each test.
 */

/* Sets all[i] to rank i's mine. */
void collective_allgather(const void *mine, int size_bytes, void *all);

#endif
