// SPDX-License-Identifier: BSD-2-Clause
/*
 * starter.h - who started this process, and in which version, for the texts of errors
 *
 * What launchers tell of their versions stands in the environment: PMIx's in PMIX_VERSION, Open
 * MPI's, from its version 5 on, in OMPI_VERSION, Slurm's as the number of its protocol in
 * SLURM_WORKING_CLUSTER. Hydra tells none. A text is valid until this thread asks again.
 */
#ifndef ORIEL_CLIENT_STARTER_H
#define ORIEL_CLIENT_STARTER_H

#include <stdbool.h>

/* The launcher with a PMIx server: "Slurm 22.05 (srun --mpi=pmix) with PMIx 4.2.2". */
const char *starter_pmix(void);

/* The launcher that speaks PMI-1: "hydra (mpiexec)". */
const char *starter_pmi(void);

/* Whether it is srun that ranks of PMIx or PMI-1 belong to: nobody else within an allocation. */
bool starter_is_slurm(void);

/* "Slurm 22.05". */
const char *starter_slurm(void);

/* "PMIx 4.2.2". */
const char *starter_pmix_version(void);

/* "Open MPI 5.0.3". */
const char *starter_open_mpi(void);

#endif
