/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hints.h - an MPI_Info as Oriel's hints: the keys that it knows, where their values can be used
 *
 * Values that cannot be used are left out, as MPI wants; Oriel's own call would refuse them.
 */
#ifndef ORIEL_MPI_HINTS_H
#define ORIEL_MPI_HINTS_H

#include <mpi.h>

#include "oriel.h"

#define HINTS_MAX 8
#define HINT_VALUE_MAX 63

struct hints {
	struct oriel_hint list[HINTS_MAX + 1];
	char values[HINTS_MAX][HINT_VALUE_MAX + 1];
};

void hints_read(MPI_Info info, struct hints *hints);

#endif
