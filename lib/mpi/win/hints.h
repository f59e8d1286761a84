/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hints.h - an MPI_Info as Oriel's hints: the keys that Oriel knows, with usable values
 *
 * Unusable values are left out, as MPI demands; Oriel's own call would refuse them. So are two
 * hints that members give differently: they must agree, or Oriel makes no window.
 *
 * Some hints are not passed to Oriel, which would turn them into errors of calls that MPICH carries
 * out. The layer only reports them as the program has set them last.
 */
#ifndef ORIEL_MPI_HINTS_H
#define ORIEL_MPI_HINTS_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/win/window.h"
#include "oriel.h"

#define HINTS_MAX 5
#define HINT_VALUE_MAX 63

struct hints {
	struct oriel_hint list[HINTS_MAX + 1];
	char values[HINTS_MAX][HINT_VALUE_MAX + 1];
};

void hints_read(MPI_Info info, struct hints *hints);

/* Stores the info's values of the hints that are only reported. */
void hints_keep_told(MPI_Info info, bool told[HINTS_TOLD]);

/* Returns the hints on which members must agree, as one number; hints_drop_agreed drops them. */
long hints_agreed(const struct hints *hints);
void hints_drop_agreed(struct hints *hints);

#endif
