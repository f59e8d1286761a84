/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.h - the job of Oriel that an MPI program has from MPI_Init to MPI_Finalize
 *
 * DESIGN NOTES
 *
 * The job is made of the ranks of MPI_COMM_WORLD behind the MPI's own initialisation, whatever has
 * started the program. The ranks' values (oriel_bootstrap) are exchanged once, by all, while
 * MPI_Init runs (rank_table.h). The service thread, which may not call MPI, finds them there later.
 *
 * Either all ranks have a job or none: without one every call is the MPI's own.
 *
 * The job ends with MPI_COMM_SELF: its attributes are deleted first of all that MPI_Finalize does, last set first, so that
 * what the program has hung there can still free windows. MPI still works then, and is let progress while the job says goodbye.
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
	MPI_Comm
		self; /* the layer's own MPI_COMM_SELF; errors return. Polling it, on which nothing is sent, lets the MPI progress */
	int rank;   /* of MPI_COMM_WORLD; -1: not known, and not told */
	bool begun; /* MPI_Init has been called: why there is no job has been told */
};

extern struct job job;

/* A line on stderr. */
void job_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same where ORIEL_MPI_VERBOSE is 1. */
void job_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
