/* SPDX-License-Identifier: BSD-2-Clause */
/* attribute.h - the predefined attributes of a window, which the layer answers */
#ifndef ORIEL_MPI_ATTRIBUTE_H
#define ORIEL_MPI_ATTRIBUTE_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/win/window.h"

/* Sets the attribute's value as a number, as Fortran has it; false: it is not predefined. */
bool attribute_number(const struct window *window, int keyval, MPI_Aint *number);

#endif
