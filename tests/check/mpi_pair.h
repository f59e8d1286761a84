/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_pair.h - what mpi_pairs.c, mpi_loads.c and mpi_threads.c have in common: two forms, and an
 * epoch around the case
 *
 * PROGRAM CASE... FORM. Of several cases each has a window of its own, with its name.
 */
#ifndef CHECK_MPI_PAIR_H
#define CHECK_MPI_PAIR_H

#include "check/mpi_cases.h"

static bool racy;

#ifdef CASES_HAVE_THREADS
static void begin_case(void);
#else
static void begin_case(void)
{
}
#endif

static void run_pair(const struct check_case *chosen)
{
	begin_case();
	MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	chosen->run();
	MPI_Win_unlock_all(win);
}

static int pair_main(int argc, char **argv, const struct check_case *cases)
{
	const struct check_case *chosen = cases_begin(argc, argv, cases);

	if (!chosen)
		return 2;
	racy = strcmp(argv[argc - 1], "racy") == 0;
	run_pair(chosen);
	for (int i = 2; i < argc - 1; i++) {
		chosen = case_of(cases, argv[i]);
		if (!chosen)
			return 2;
		MPI_Win_free(&win);
		open_window(argv[i]);
		run_pair(chosen);
	}
	return cases_end();
}

#endif
