// SPDX-License-Identifier: BSD-2-Clause
/*
 * starter.h - names and versions of launchers, for error texts
 *
 * Versions are in the environment: PMIx's in PMIX_VERSION, Open MPI's (5 and later) in
 * OMPI_VERSION, Slurm's as a protocol number in SLURM_WORKING_CLUSTER. hydra gives none.
 */
#ifndef ORIEL_CLIENT_STARTER_H
#define ORIEL_CLIENT_STARTER_H

#include <stdbool.h>

/* Valid to the end of the statement. */
struct starter_text {
	char text[96];
};

/* Returns the launcher with a PMIx server: "Slurm 22.05 (srun --mpi=pmix) with PMIx 4.2.2". */
struct starter_text starter_pmix(void);

/* Returns the launcher that speaks PMI-1: "hydra (mpiexec)". */
struct starter_text starter_pmi(void);

/* Returns whether srun started the ranks, and not another launcher within an allocation. */
bool starter_is_slurm(void);

/* Returns "Slurm 22.05". */
struct starter_text starter_slurm(void);

/* Returns "PMIx 4.2.2". */
struct starter_text starter_pmix_version(void);

/* Returns "Open MPI 5.0.3". */
struct starter_text starter_open_mpi(void);

#endif
