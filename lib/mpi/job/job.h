/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.h - Oriel's job, which an MPI program has from MPI_Init to MPI_Finalize
 *
 * DESIGN NOTES
 *
 * The job has the ranks of MPI_COMM_WORLD, whatever has started the program. All ranks exchange
 * their values (oriel_bootstrap) once, during MPI_Init (rank_table.h). The service thread, which
 * must not call MPI, finds them there later.
 *
 * Either all ranks have a job or none: without one, every call is the MPI's own.
 *
 * The job ends with MPI_COMM_SELF. MPI_Finalize first deletes its attributes, the last set first,
 * so the program's own callbacks there can still free windows. MPI still works then, and progresses
 * while the job ends.
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
	MPI_Comm self; /* the layer's MPI_COMM_SELF; its errors return */
	int rank;      /* of MPI_COMM_WORLD; -1: not known, and not printed */
	int local_size; /* ranks on this machine */
	bool begun;    /* MPI_Init has been called, and has said why there is no job */
};

extern struct job job;

/* Returns the end of one of Oriel's error texts, without its rank: lines of the layer have that. */
const char *job_without_rank(const char *text);

/* Prints a line to stderr. */
void job_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line to stderr if ORIEL_MPI_VERBOSE is 1. */
void job_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * collective.c: collective calls over MPI_COMM_WORLD that yield the processor
 *
 * DESIGN NOTES
 *
 * MPICH spins in its own collective calls. When oversubscribed, each step then takes as long as the
 * kernel lets a spinning rank run: a barrier of 16 ranks on two processors takes a tenth of a
 * second. These calls yield after each test.
 */

/* Sets all[i] to rank i's mine. */
void collective_allgather(const void *mine, int size_bytes, void *all);

int collective_min(int mine);

#endif
