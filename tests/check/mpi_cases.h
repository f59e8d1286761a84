/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_cases.h - what mpi_pairs.c and mpi_misuse.c have in common: a window of each rank, and the choice of a case */
#ifndef CHECK_MPI_CASES_H
#define CHECK_MPI_CASES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 256

struct check_case {
	const char *name;
	void (*run)(void);
};

static MPI_Win win;
static uint8_t *base;
static int rank;
static uint8_t buffer[BYTES];

/* Begins the program PROGRAM CASE FORM. Returns its case of a list that ends without a name, or NULL. */
static const struct check_case *cases_begin(int argc, char **argv, const struct check_case *list)
{
	while (argc == 3 && list->name && strcmp(list->name, argv[1]) != 0)
		list++;
	if (argc != 3 || !list->name)
		return NULL;
	MPI_Init(&argc, &argv); /* WRONG */
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, BYTES);
	MPI_Win_set_name(win, "halo");
	MPI_Barrier(MPI_COMM_WORLD);
	return list;
}

static int cases_end(void)
{
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}

#endif
