/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_cases.h - what programs of MPI with cases have in common: a window, begin and end */
#ifndef CHECK_MPI_CASES_H
#define CHECK_MPI_CASES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check/cases.h"

#define BYTES 256

static MPI_Win win;
static const char *window_name;
static uint8_t *base;
static int rank;
static uint8_t buffer[BYTES];

/* The memory is zero, and all members have the window. */
static void open_window(const char *name)
{
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, BYTES);
	window_name = name;
	MPI_Win_set_name(win, name);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Begins the program PROGRAM CASE... FORM. Returns its first case, or NULL. */
static const struct check_case *cases_begin(int argc, char **argv, const struct check_case *list)
{
	const struct check_case *chosen = argc >= 3 ? case_of(list, argv[1]) : NULL;

	if (!chosen)
		return NULL;
#ifdef CASES_HAVE_THREADS
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){ 0 });
#else
	MPI_Init(&argc, &argv); /* WRONG */
#endif
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	open_window(argc == 3 ? "halo" : argv[1]);
	return chosen;
}

static int cases_end(void)
{
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}

#endif
