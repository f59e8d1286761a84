/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hints.h - an MPI_Info as Oriel's hints: the keys that it knows, where their values can be used
 *
 * Values that cannot be used are left out, as MPI wants; Oriel's own call would refuse them. Two of the hints must be the same on
 * all members, or Oriel makes no window; where they are not they are left out, too.
 *
 * Some are kept from Oriel, which makes nothing of them but errors of calls that MPICH carries out: they are told again as the
 * program has said last.
 */
#ifndef ORIEL_MPI_HINTS_H
#define ORIEL_MPI_HINTS_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/window.h"
#include "oriel.h"

#define HINTS_MAX 5
#define HINT_VALUE_MAX 63

struct hints {
	struct oriel_hint list[HINTS_MAX + 1];
	char values[HINTS_MAX][HINT_VALUE_MAX + 1];
};

void hints_read(MPI_Info info, struct hints *hints);

/* Of those that are only told: what an info has. */
void hints_keep_told(MPI_Info info, bool told[HINTS_TOLD]);

/* What must be the same on all members, as one number; and leave it out. */
long hints_agreed(const struct hints *hints);
void hints_drop_agreed(struct hints *hints);

#endif
