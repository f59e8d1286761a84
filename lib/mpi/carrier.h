/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carrier.h - windows of the MPI's own that carry the handles of the program's; see window.h
 *
 * DESIGN NOTES
 *
 * Making one costs up to 20 us (Open MPI 4.1), more than all the rest of a window. So what the program frees is kept for its
 * next windows, as new: without a name, with the handler that windows begin with. One that has had attributes is not
 * kept, since the MPI deletes what the layer may not know of when it is freed.
 */
#ifndef ORIEL_MPI_CARRIER_H
#define ORIEL_MPI_CARRIER_H

#include <mpi.h>
#include <stdbool.h>

/* MPI_SUCCESS, or the MPI's own error. */
int carrier_take(MPI_Win *handle);

/* It becomes MPI_WIN_NULL. */
int carrier_give(MPI_Win *handle, bool had_attributes);

/* Free those that are kept. */
void carriers_release(void);

#endif
