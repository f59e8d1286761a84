/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_pair.h - what mpi_pairs.c and mpi_loads.c have in common: two forms, and an epoch around the case */
#ifndef CHECK_MPI_PAIR_H
#define CHECK_MPI_PAIR_H

#include "check/mpi_cases.h"

static bool racy;

static int pair_main(int argc, char **argv, const struct check_case *cases)
{
	const struct check_case *chosen = cases_begin(argc, argv, cases);

	if (!chosen)
		return 2;
	racy = strcmp(argv[2], "racy") == 0;
	MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	chosen->run();
	MPI_Win_unlock_all(win);
	return cases_end();
}

#endif
