// SPDX-License-Identifier: BSD-2-Clause
/*
 * beside_mpi.h - whether an MPI library is in the same process, which shares the launcher with us
 */
#ifndef ORIEL_CLIENT_BESIDE_MPI_H
#define ORIEL_CLIENT_BESIDE_MPI_H

#include <stdbool.h>

/* One is loaded, used or not. */
bool mpi_is_here(void);

/* It has been initialised, and perhaps finalized since. */
bool mpi_is_initialized(void);

#endif
