// SPDX-License-Identifier: BSD-2-Clause
/* beside_mpi.h - detects an MPI library in this process, which shares the launcher with Oriel */
#ifndef ORIEL_CLIENT_BESIDE_MPI_H
#define ORIEL_CLIENT_BESIDE_MPI_H

#include <stdbool.h>

/* Returns whether one is loaded, used or not. */
bool mpi_is_here(void);

/* Returns whether it has been initialised; it may be finalized since. */
bool mpi_is_initialized(void);

/*
 * Returns whether the MPI aborts in MPI_Init if PMIx is initialised: Open MPI 5 and later. It then
 * does not ask PMIx which rank it is.
 */
bool mpi_wants_pmix_alone(void);

#endif
